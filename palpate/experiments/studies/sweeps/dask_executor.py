"""Many machines: a dask.distributed cluster as an Executor (extra `palpate[dask]`).

The scheduler does by itself what is hard: work of a worker that is lost goes to another one, and a task that several
workers died of comes back as KilledWorker.  Workers need palpate, the user's module, and should have one thread each.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any

from palpate.experiments.studies.sweeps.executors import cores

LOCAL = "local"
PATIENCE_S = 15.0  # for the scheduler to answer
LOCAL_CONFIG = {
    "distributed.scheduler.allowed-failures": 1,  # workers that a task may take with it before it comes back
    # A worker that was lost before is not put away because it is missing again when its time is up.
    "distributed.deploy.lost-worker-timeout": "1 day",
}


def dask(argument: str) -> Executor:
    """The cluster at an address (host:port, or tcp://host:port); "local": one worker for each core, here."""
    if not argument:
        raise ValueError("dask needs an address: dask:HOST:PORT, or dask:local")
    try:
        import distributed
        from dask import config
    except ImportError:
        raise ValueError("dask needs distributed: pip install 'palpate[dask]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # a worker that dies is ours to report
    if argument == LOCAL:
        with config.set(LOCAL_CONFIG):
            cluster = distributed.LocalCluster(
                n_workers=cores(), threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
            )
            return Dask(distributed.Client(cluster, set_as_default=False), cluster)
    try:
        return Dask(distributed.Client(argument, timeout=PATIENCE_S, set_as_default=False), None)
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"no scheduler answers at {argument}: {error or type(error).__name__}") from None


class Dask(Executor):
    """A client's executor, and the end of both."""

    def __init__(self, client: Any, cluster: Any) -> None:
        self._client, self._cluster = client, cluster
        self._executor = client.get_executor(pure=False)

    @property
    def workers(self) -> int:
        return sum(self._client.nthreads().values()) or 1

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._client.status != "running":
            raise RuntimeError(
                "the scheduler is gone; what was done is kept, and the same command goes on with the rest"
            )
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with suppress(Exception):  # a scheduler that is gone needs no good-bye
            self._executor.shutdown(wait=wait, cancel_futures=cancel_futures)
        with suppress(Exception):
            self._client.close(timeout=5)
        if self._cluster is not None:
            self._cluster.close(timeout=5)
