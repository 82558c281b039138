"""XML files that come from anywhere: read by ``defusedxml``, so that nothing grows out of a small file."""

from __future__ import annotations

from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from goldlabel.errors import InputError
from goldlabel.files import InputFile, OnBytes


def parse_xml(file: InputFile, on_bytes: OnBytes | None = None) -> tuple[Element, dict[Element, int]]:
    """Return a file's root, and the line on which each element starts; a file that declares entities is refused."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    lines: dict[Element, int] = {}

    class Numbered(TreeBuilder):
        """Builds the tree and notes where the parser is."""

        def start(self, tag: str, attributes: dict[str, str], /) -> Element:
            element = super().start(tag, attributes)
            lines[element] = parser.parser.CurrentLineNumber
            return element

    parser = DefusedXMLParser(target=Numbered())
    try:
        with file.open(on_bytes) as stream:
            while chunk := stream.read(1 << 16):
                parser.feed(chunk)
            return parser.close(), lines
    except ParseError as error:
        raise InputError(f"{file} line {error.position[0]}: is not well-formed XML ({error})") from error
    except DefusedXmlException as error:
        line = parser.parser.CurrentLineNumber
        raise InputError(f"{file} line {line}: declares an entity, which is not read; get a clean copy") from error
    except (LookupError, ValueError) as error:  # an encoding that Python does not know, or does not read piecemeal
        raise InputError(f"{file} line 1: its encoding cannot be read ({error}); convert the file to UTF-8") from error
