from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool, plain
from browser_use import Tools as BrowserTools


def tools(project: Project) -> Iterator[Tool]:
    for owner in project.every(BrowserTools):
        for name, action in owner.registry.registry.actions.items():
            if not project.holds(action.function):
                continue

            async def run(args, owner=owner, name=name):
                model = owner.registry.create_action_model()
                answer = await owner.act(model(**{name: args}), browser_session=None)
                return {
                    key: getattr(answer, key) for key in ("extracted_content", "long_term_memory", "error")
                }

            yield Tool(name, plain(action.function), run)
