"""The data of a project: premises and pairs that come in, are looked at, measured, split and exported."""

import os

# Arrow's own allocator keeps some 40 MB of what an export used for a moment; Arrow looks at this when it is first used.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
