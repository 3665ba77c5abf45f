"""Settings of reading: where texts, ids, times and groups of documents come from."""

from __future__ import annotations

from dataclasses import dataclass

from ibidem.config.settings import input_setting


@dataclass(frozen=True)
class DocumentsConfig:
    """How records become documents."""

    text_field: str = input_setting("text", "Field or column with the text.", common=True, value="NAME")
    id_field: str = input_setting(
        "id",
        "Field with the document's id. Records without one get an id made of file name and position.",
        common=True,
        value="NAME",
    )
    time_field: str = input_setting(
        "time", "Field with the publication time. ISO 8601, or seconds since 1970.", common=True, value="NAME"
    )
    group_field: str = input_setting(
        "group", "Field with the outlet, author or site. It is called the document's group.", common=True, value="NAME"
    )
    html: bool = input_setting(False, "The text field contains HTML: extract the text from it.")
    main_content: bool = input_setting(False, "Keep only the main content of HTML, without navigation and footers.")
    text_path: str = input_setting(
        "auto",
        "Elements with the text of XML files, such as article/body//p. auto: TEI, ALTO and PAGE files are known.",
        value="PATH",
    )
    encoding: str = input_setting("utf-8", "Character encoding of text, JSON and CSV files.", value="NAME")
