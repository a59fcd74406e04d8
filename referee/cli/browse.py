"""``referee app``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.errors import MissingExtra


def app_(
    runs: Annotated[Path, typer.Option(help="The folder of runs.")] = Path("referee-runs"),
    papers: Annotated[
        list[Path] | None, typer.Option(metavar="FOLDER", help="Papers under it may be named by their path.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8484,
    host: Annotated[str, typer.Option(help="The address to listen at; others than this machine's need a token.")] = (
        "127.0.0.1"
    ),
    name: Annotated[
        list[str] | None, typer.Option(metavar="NAME:PORT", help="Another name that browsers reach it by.")
    ] = None,
    token: Annotated[bool, typer.Option("--token", help="Ask for a token on this machine too.")] = False,
    base_url: Annotated[str | None, typer.Option(help="An OpenAI-compatible server (vLLM, Ollama, llama.cpp).")] = None,
    only_print: Annotated[bool, typer.Option("--print", help="Only print the address; start no browser.")] = False,
) -> None:
    """Review papers in the browser: upload, estimate, watch, read beside the paper, compare.

    Everything it shows lies in run folders, those of the command line among them. It answers on this machine alone
    unless --host says otherwise. Ctrl-C ends it; reviews under way stop and can go on later.
    """
    import webbrowser

    try:
        from referee.app.serving import Wanted, serve
    except ImportError as error:
        raise MissingExtra(
            f"the app needs {error.name}, which is not installed.", hint="Install it: pip install 'referee[app]'"
        ) from error
    from referee.settings import load_settings

    def ready(address: str) -> None:
        typer.echo(f"The app is at {address} (Ctrl-C ends it).")
        if not only_print:
            webbrowser.open(address)

    wanted = Wanted(runs, host, port, tuple(papers or ()), tuple(name or ()), token)
    serve(wanted, load_settings({"models.base_url": base_url}), ready)
