"""What the exports promise, as schemas: the parts of each format that they use, and nothing else."""

from __future__ import annotations

GEXF = """
<grammar xmlns="http://relaxng.org/ns/structure/1.0" ns="http://www.gexf.net/1.2draft"
         datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">
  <start><element name="gexf"><attribute name="version"><value>1.2</value></attribute>
    <element name="meta"><element name="creator"><text/></element><element name="description"><text/></element></element>
    <element name="graph">
      <attribute name="defaultedgetype"><choice><value>directed</value><value>undirected</value></choice></attribute>
      <choice>
        <attribute name="mode"><value>static</value></attribute>
        <group>
          <attribute name="mode"><value>dynamic</value></attribute>
          <attribute name="timeformat"><value>date</value></attribute>
        </group>
      </choice>
      <oneOrMore><element name="attributes">
        <attribute name="class"><choice><value>node</value><value>edge</value></choice></attribute>
        <attribute name="mode"><value>static</value></attribute>
        <oneOrMore><element name="attribute">
          <attribute name="id"><data type="nonNegativeInteger"/></attribute>
          <attribute name="title"/>
          <attribute name="type">
            <choice><value>string</value><value>long</value><value>double</value><value>boolean</value></choice>
          </attribute>
        </element></oneOrMore>
      </element></oneOrMore>
      <element name="nodes"><zeroOrMore><element name="node">
        <attribute name="id"><data type="NCName"/></attribute><attribute name="label"/>
        <optional><attribute name="start"><ref name="moment"/></attribute></optional>
        <optional><attribute name="end"><ref name="moment"/></attribute></optional>
        <ref name="values"/>
      </element></zeroOrMore></element>
      <element name="edges"><zeroOrMore><element name="edge">
        <attribute name="id"><data type="nonNegativeInteger"/></attribute>
        <attribute name="source"><data type="NCName"/></attribute>
        <attribute name="target"><data type="NCName"/></attribute>
        <attribute name="weight"><data type="double"/></attribute>
        <optional><attribute name="type"><value>mutual</value></attribute></optional>
        <optional><attribute name="start"><ref name="moment"/></attribute></optional>
        <ref name="values"/>
      </element></zeroOrMore></element>
    </element>
  </element></start>
  <define name="moment"><choice><data type="date"/><data type="dateTime"/></choice></define>
  <define name="values"><element name="attvalues"><zeroOrMore><element name="attvalue">
    <attribute name="for"><data type="nonNegativeInteger"/></attribute><attribute name="value"/>
  </element></zeroOrMore></element></define>
</grammar>
"""

TEI = """
<grammar xmlns="http://relaxng.org/ns/structure/1.0" ns="http://www.tei-c.org/ns/1.0"
         datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">
  <start><element name="TEI">
    <element name="teiHeader">
      <element name="fileDesc">
        <element name="titleStmt"><element name="title"><text/></element></element>
        <element name="publicationStmt"><element name="p"><text/></element></element>
        <element name="sourceDesc"><element name="p"><text/></element></element>
      </element>
      <element name="encodingDesc"><element name="appInfo"><element name="application">
        <attribute name="ident"><data type="NCName"/></attribute><attribute name="version"/>
        <element name="label"><text/></element>
      </element></element></element>
    </element>
    <element name="standOff">
      <element name="listBibl">
        <element name="head"><text/></element>
        <oneOrMore><element name="bibl">
          <attribute name="xml:id"><data type="ID"/></attribute>
          <element name="title"><text/></element>
          <element name="idno"><text/></element>
          <optional><element name="publisher"><text/></element></optional>
          <optional><element name="date"><attribute name="when"><data type="dateTime"/></attribute><text/></element></optional>
          <element name="ptr"><attribute name="target"><data type="anyURI"/></attribute></element>
        </element></oneOrMore>
      </element>
      <element name="spanGrp"><attribute name="type"/><oneOrMore><element name="span">
        <attribute name="xml:id"><data type="ID"/></attribute>
        <attribute name="corresp"><data type="anyURI"/></attribute>
        <attribute name="target"><data type="anyURI"><param name="pattern">[^ ]+#char=[0-9]+,[0-9]+</param></data></attribute>
        <text/>
      </element></oneOrMore></element>
      <element name="listRelation"><attribute name="type"/><oneOrMore><element name="relation">
        <attribute name="name"><data type="NCName"/></attribute>
        <attribute name="type"><choice><value>exact</value><value>near</value><value>quote</value></choice></attribute>
        <choice>
          <attribute name="mutual"/>
          <group><attribute name="active"/><attribute name="passive"/></group>
        </choice>
        <element name="desc"><element name="num">
          <attribute name="type"/><attribute name="value"><data type="decimal"/></attribute><text/>
        </element></element>
      </element></oneOrMore></element>
    </element>
  </element></start>
</grammar>
"""

PAN = """
<element name="document" xmlns="http://relaxng.org/ns/structure/1.0"
         datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">
  <attribute name="reference"/>
  <oneOrMore><element name="feature">
    <attribute name="name"><value>detected-plagiarism</value></attribute>
    <attribute name="this_offset"><data type="nonNegativeInteger"/></attribute>
    <attribute name="this_length"><data type="positiveInteger"/></attribute>
    <attribute name="source_reference"/>
    <attribute name="source_offset"><data type="nonNegativeInteger"/></attribute>
    <attribute name="source_length"><data type="positiveInteger"/></attribute>
  </element></oneOrMore>
</element>
"""

_SELECTORS = {
    "type": "array",
    "minItems": 1,
    "maxItems": 2,
    "items": {
        "oneOf": [
            {
                "properties": {"type": {"const": "TextPositionSelector"}, "start": {"minimum": 0}, "end": {"type": "integer"}},
                "required": ["type", "start", "end"],
                "additionalProperties": False,
            },
            {
                "properties": {
                    "type": {"const": "TextQuoteSelector"},
                    **{name: {"type": "string"} for name in ("exact", "prefix", "suffix")},
                },
                "required": ["type", "exact", "prefix", "suffix"],
                "additionalProperties": False,
            },
        ]
    },
}
_RESOURCE = {
    "type": "object",
    "properties": {
        "type": {"const": "SpecificResource"},
        "source": {"type": "string", "format": "iri-reference", "pattern": r"^[^\s<>\"{}|\\^`]+$"},
        "selector": _SELECTORS,
    },
    "required": ["type", "source", "selector"],
    "additionalProperties": False,
}
ANNOTATIONS = {
    "type": "object",
    "properties": {
        "@context": {"type": "array", "prefixItems": [{"const": "http://www.w3.org/ns/anno.jsonld"}, {"type": "object"}]},
        "id": {"type": "string"},
        "type": {"const": "AnnotationPage"},
        "label": {"type": "string"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "pattern": "^urn:ibidem:passage:[0-9]+$"},
                    "type": {"const": "Annotation"},
                    "motivation": {"const": "linking"},
                    "generator": {"type": "object", "required": ["id", "type", "name"]},
                    "kind": {"enum": ["exact", "near", "quote"]},
                    "similarity": {"type": "number", "minimum": 0, "maximum": 1},
                    "direction": {"enum": ["body_to_target", "unknown"]},
                    "body": _RESOURCE,
                    "target": _RESOURCE,
                },
                "required": ["id", "type", "motivation", "body", "target"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["@context", "id", "type", "items"],
    "additionalProperties": False,
}
