"""The web app behind `ibidem serve`: one page and a JSON API over a result folder or an index. Needs the extra `web`."""
