"""A language model behind an OpenAI-compatible endpoint, as a ``Model``.

The way of one pair: ``prompt`` writes the question, ``dialect`` the request that this server understands, ``session``
looks it up in ``cache`` or sends it through ``calls``, ``replies`` reads what came back, ``answers`` turns it into
probabilities or into a reason why there are none, and ``tally`` counts calls, tokens and money.
"""

from goldlabel.models.endpoint.model import Endpoint
from goldlabel.models.endpoint.options import EndpointOptions
from goldlabel.models.endpoint.tally import EndpointSummary

__all__ = ["Endpoint", "EndpointOptions", "EndpointSummary"]
