"""The HTTP API: routes, errors as JSON, work in threads with a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from dragoman.errors import DragomanError, FailedError, InputError
from dragoman.view.serve import requests as asked
from dragoman.view.serve.explorer import Explorer
from dragoman.view.serve.guard import App, Guard
from dragoman.view.serve.libre import add_libre_routes
from dragoman.view.serve.limits import Limits, TooLargeError
from dragoman.view.serve.opened import SearchTimeoutError
from dragoman.view.serve.wanted import check_wanted

__all__ = ["Workers", "make_app"]

_T = TypeVar("_T")
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_Object = dict[str, Any]
_STATIC = files("dragoman.view.serve") / "static"


_REFUSALS: dict[int | str, str] = {
    400: "What was asked for is not there, or cannot be done",
    403: "Another host or origin asks",
    413: "More than the limits allow",
    422: "A field is missing, unknown or of another type",
    503: "The server is busy",
    504: "The search took too long",
}
_NO_PAGE = "there is no such page; / is the explorer, /docs lists the routes"


class BusyError(FailedError):
    """More requests wait than the server holds."""


class Workers:
    """Threads that answer; at most `waiting` requests wait for one."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.workers, thread_name_prefix="dragoman-serve")
        self._n = 0

    async def run(self, work: Callable[[], _T]) -> _T:
        """The result of `work` from a thread. Raises BusyError, or SearchTimeoutError after the time limit.

        Waiting for a thread and work may both take the time limit; native searches stop by themselves, and so does
        all work whose client has gone.
        """
        if self._n >= self._limits.waiting:
            raise BusyError("the server is busy; try again in a moment")
        self._n += 1
        context = copy_context()

        def wanted() -> _T:
            check_wanted()
            return work()

        future = asyncio.get_running_loop().run_in_executor(self._pool, context.run, wanted)
        future.add_done_callback(self._done)
        seconds = 2 * self._limits.timeout_s
        try:
            return await asyncio.wait_for(asyncio.shield(future), seconds)
        except TimeoutError:
            raise SearchTimeoutError(
                f"the answer took longer than {seconds:g} s; try again, send less text or choose the effort fast"
            ) from None

    async def answer(self, work: Callable[[], Any]) -> JSONResponse:
        """What `work` makes, as JSON; written in the same thread, since it may be large."""
        return await self.run(lambda: JSONResponse(work()))

    def _done(self, future: asyncio.Future[Any]) -> None:
        self._n -= 1
        if not future.cancelled():
            future.exception()  # of work that nobody waits for any more

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def make_app(explorer: Explorer) -> App:
    """The ASGI application: page, API, LibreTranslate's routes, behind the checks of `Guard`."""
    workers = Workers(explorer.limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        workers.close()

    app = FastAPI(
        title="Dragoman",
        version=version("dragoman"),
        description="Translate, explain and look into the search of translation systems.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses={status: {"model": asked.Refusal, "description": said} for status, said in _REFUSALS.items()},
    )
    _add_errors(app)
    _add_api(app, explorer, workers)
    add_libre_routes(app, explorer, workers.run)
    _add_page(app)
    return Guard(app, body_bytes=explorer.limits.body_bytes)


def _add_api(app: FastAPI, explorer: Explorer, workers: Workers) -> None:
    recorded = None if explorer.run is None else explorer.run.to_json()

    @app.get("/api/about", tags=["about"], response_model=_Object)
    async def about() -> JSONResponse:
        """Systems with their features and weights, and the limits of requests."""
        return await workers.answer(explorer.about)

    @app.get("/api/run", tags=["about"], response_model=_Object | None)
    async def run() -> JSONResponse:
        """The recorded run: scores and weights of every round; null without `--run`."""
        return JSONResponse(recorded)

    @app.get("/api/examples", tags=["about"])
    async def examples() -> list[tuple[str, str]]:
        """Sentences with references: of the run's test sets, or of a training text that a system keeps."""
        return await workers.run(explorer.examples)

    @app.post("/api/translate", tags=["translate"])
    async def translate(request: asked.TranslateRequest) -> dict[str, Any]:
        """A text by several systems, line by line, as `dragoman translate` gives it."""
        names = list(dict.fromkeys(request.systems or explorer.systems))
        found = {
            name: await workers.run(partial(explorer.translate, name, request.text, request.effort)) for name in names
        }
        return {"translations": found}

    @app.post("/api/explain", tags=["explain"], response_model=_Object)
    async def explain(request: asked.ExplainRequest) -> JSONResponse:
        """The k best translations of a sentence with their features, and the derivation of one of them."""
        work = request.search(), request.k, request.candidate, request.reference
        return await workers.answer(lambda: explorer.explain(work[0], k=work[1], candidate=work[2], reference=work[3]))

    @app.post("/api/efforts", tags=["explain"])
    async def efforts(request: asked.SearchRequest) -> dict[str, Any]:
        """The best translation by each search effort: a better score by more search is a search error of less."""
        return {"efforts": await workers.run(lambda: explorer.efforts(request.search()))}

    @app.post("/api/forest", tags=["explain"], response_model=_Object)
    async def forest(request: asked.ForestRequest) -> JSONResponse:
        """The search space of a sentence, pruned by posterior; the best derivation always stays."""
        return await workers.answer(
            lambda: explorer.space(
                request.search(), threshold=request.threshold, scale=request.scale, n_edges=request.edges
            )
        )

    @app.post("/api/force", tags=["explain"], response_model=_Object)
    async def force(request: asked.ForceRequest) -> JSONResponse:
        """Why a translation is not the system's own: model error, search error, or out of the tables' reach."""
        return await workers.answer(lambda: explorer.force(request.search(), request.target))

    @app.post("/api/lookup", tags=["tables"], response_model=_Object)
    async def lookup(request: asked.LookupRequest) -> JSONResponse:
        """The translations of a phrase, with counts, scores and training sentences."""
        return await workers.answer(
            lambda: explorer.look_up(
                request.system, request.phrase, n_targets=request.targets, n_sentences=request.sentences
            )
        )

    @app.post("/api/score", tags=["explain"])
    async def score(request: asked.ScoreRequest) -> dict[str, Any]:
        """BLEU+1, chrF and TER of translations against a reference, in points."""
        return {
            "scores": await workers.run(lambda: explorer.score(request.system, request.hypotheses, request.reference))
        }


def _add_page(app: FastAPI) -> None:
    served = {entry.name: entry.read_bytes() for entry in _STATIC.iterdir() if entry.is_file()}

    def answer(name: str) -> Response:
        kind = next((kind for suffix, kind in _TYPES.items() if name.endswith(suffix)), None)
        if name not in served or kind is None:
            return JSONResponse({"error": _NO_PAGE}, status_code=404)
        return Response(served[name], media_type=f"{kind}; charset=utf-8")

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return answer("index.html")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return answer("docs.html")

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:
        return answer(name)

    @app.get("/health", tags=["about"])
    async def health() -> dict[str, str]:
        """Whether the server answers."""
        return {"status": "ok"}


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(DragomanError)
    async def failed(_: Request, error: DragomanError) -> JSONResponse:
        status = 500
        match error:
            case TooLargeError():
                status = 413
            case InputError():
                status = 400
            case SearchTimeoutError():
                status = 504
            case BusyError():
                status = 503
        return JSONResponse({"error": str(error)}, status_code=status)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse({"error": _said(error.errors()[0])}, status_code=422)

    @app.exception_handler(HTTPException)
    async def no_route(request: Request, error: HTTPException) -> JSONResponse:
        message = f"{error.detail}; /docs lists the routes"
        match error.__cause__:  # of a body that cannot be parsed
            case UnicodeDecodeError() as undecodable:
                message = f"the body is not UTF-8 (byte {undecodable.start}); send JSON in UTF-8"
            case RecursionError():
                message = "the body has too many arrays or objects in each other; send an object as /docs describes it"
        if error.status_code == 404:
            message = _NO_PAGE
        elif error.status_code == 405:
            allowed = (error.headers or {}).get("Allow", "another method")
            message = f"{request.method} is not answered here; ask with {allowed}, as /docs says"
        return JSONResponse({"error": message}, status_code=error.status_code, headers=error.headers)


def _said(error: Mapping[str, Any]) -> str:
    """What is wrong with a body, where, and what was expected."""
    place = [str(part) for part in error["loc"] if part != "body"]
    reason = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "json_invalid":
        found = error.get("ctx", {}).get("error", "")
        return f"the body is not JSON ({found}, at character {error['loc'][-1]}); send an object as /docs describes it"
    where = ".".join(place)[:200]
    if not where:
        return f"{reason}; send an object as /docs describes it"
    match error["type"]:
        case "missing":
            return f"{where} is missing; give it, as /docs describes"
        case "extra_forbidden":
            return f"{where} is no field of this request; /docs lists its fields"
    return f"{where}: {reason}; /docs says what is expected"
