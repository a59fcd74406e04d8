from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support import ChatRequest, FakeServer, Fault, Script, ScriptError

from .fake_clients import PAPER, PROMPT, Weakness, chat_body

SCHEMA = Weakness.model_json_schema()


def _say(client: httpx.Client, server: FakeServer, role: str = "", prompt: str = "", text: str = PROMPT) -> Any:
    headers = {"x-referee-role": role, "x-referee-prompt": prompt}
    response = client.post(f"{server.base_url}/chat/completions", json=chat_body(text, SCHEMA), headers=headers)
    return response.json()["choices"][0]["message"]["content"] if response.status_code == 200 else response


def test_entries_are_found_by_prompt_role_schema_and_star(client: httpx.Client) -> None:
    script = {"review/map@v2": "1", "review/map": "2", "writer": "3", "Weakness": "4"}
    with FakeServer(script) as server:
        assert _say(client, server, "writer", "review/map@v2") == "1"
        assert _say(client, server, "writer", "review/map@v1") == "2"
        assert _say(client, server, "writer", "review/card@v1") == "3"
        assert _say(client, server, "judge") == "4"
    assert [entry.prompt_id for entry in server.log] == ["review/map@v2", "review/map@v1", "review/card@v1", ""]


def test_a_template_cuts_quotations_and_sentences_from_the_prompt(client: httpx.Client) -> None:
    with FakeServer({"*": {"a": "{{quote}}", "b": ["{{quote paper}}"], "c": "says: {{sentence 1}}", "n": 3}}) as server:
        said = json.loads(_say(client, server))
    assert said["a"] in PAPER
    assert said["b"][0] in PAPER
    assert said["c"].removeprefix("says: ") == PAPER.split(". ")[1]
    assert said["n"] == 3


async def _slow_answer(request: ChatRequest) -> dict[str, Any]:
    return {"score": len(request.spans("paper"))}


def test_functions_models_and_faults(client: httpx.Client) -> None:
    weakness = Weakness(claim="c", quote="q", severity="minor", score=1)
    script = {
        "plain": lambda request: request.instance(score=7),
        "slow": _slow_answer,
        "model": weakness,
        "mixed": [Fault("empty"), Fault("429"), weakness],
    }
    with FakeServer(script) as server:
        made = Weakness.model_validate_json(_say(client, server, "plain"))
        assert (made.score, made.quote in PAPER) == (7, True)
        assert _say(client, server, "slow") == '{"score": 1}'
        assert json.loads(_say(client, server, "model")) == weakness.model_dump()
        assert _say(client, server, "mixed") == ""
        assert _say(client, server, "mixed").status_code == 429
        assert json.loads(_say(client, server, "mixed")) == weakness.model_dump()
    assert server.script.unused() == {}


def test_running_out_is_recorded_and_raised_at_the_end(client: httpx.Client) -> None:
    server = FakeServer({"judge": ["1", "2"]}).start()
    assert _say(client, server, "judge") == "1"
    assert server.script.unused() == {"judge": 1}
    assert _say(client, server, "judge") == "2"
    assert _say(client, server, "judge").status_code == 599
    with pytest.raises(ScriptError, match="'judge' has run out"):
        server.__exit__(None, None, None)
    assert [entry.outcome for entry in server.log] == ["ok", "ok", "script_exhausted"]


def _fails(request: ChatRequest) -> str:
    raise KeyError(request.role)


@pytest.mark.parametrize("entry", [_fails, lambda request: 3, {"quote": "{{sentence 9}}"}])
def test_a_script_that_fails_is_loud(client: httpx.Client, entry: Any) -> None:
    with FakeServer({"writer": entry}, strict=False) as server:
        response = _say(client, server, "writer")
    assert response.status_code == 599
    assert "script" in response.json()["error"]["message"]
    assert len(server.problems) == 1
    assert server.log.entries[0].outcome == "script_error"


def test_rules_name_the_role_and_otherwise_fail_refuses_the_rest(client: httpx.Client) -> None:
    script = Script({"judge": "judged"}, rules={"Name one weakness": "judge"}, otherwise="fail")
    with FakeServer(script, strict=False) as server:
        assert _say(client, server) == "judged"
        assert _say(client, server, text="Something else").status_code == 599
    assert [entry.role for entry in server.log] == ["judge", ""]


def test_a_schema_that_nothing_fits_is_the_script_s_error(client: httpx.Client) -> None:
    with FakeServer(strict=False) as server:
        body = chat_body(schema={"type": "integer", "minimum": 2, "maximum": 1})
        assert client.post(f"{server.base_url}/chat/completions", json=body).status_code == 599


def test_a_script_file(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_text('{"entries": {"judge": ["a", {"b": 1}]}, "otherwise": "fail"}')
    script = Script.load(file)
    assert (script.entries, script.otherwise) == ({"judge": ["a", {"b": 1}]}, "fail")


def test_a_schema_that_stands_in_the_prompt_is_used(client: httpx.Client) -> None:
    text = f"{PROMPT}\nReply with one JSON object. Its JSON schema:\n{json.dumps(SCHEMA)}"
    with FakeServer() as server:
        response = client.post(f"{server.base_url}/chat/completions", json=chat_body(text))
    assert Weakness.model_validate_json(response.json()["choices"][0]["message"]["content"]).quote in PAPER
