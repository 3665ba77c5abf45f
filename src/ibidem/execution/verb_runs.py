"""How a verb is carried out: its inputs and settings made ready, and its program run in memory, on disk or on Spark."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ibidem.config import Config
from ibidem.config.document_settings import ReferenceConfig
from ibidem.config.papers import check_paper
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.config.surface import given, named
from ibidem.errors import SettingsError
from ibidem.execution.progress import Progress

if TYPE_CHECKING:
    from ibidem.execution.run import Run
    from ibidem.execution.spark.engine import SparkEngine

AnyResult = TypeVar("AnyResult")


@dataclass(frozen=True)
class VerbRun:
    """What a verb is called with: inputs whose kinds are known, all settings, and where it runs.

    `further` describes what else a run on disk depends on: it is only continued with the same.
    """

    verb: str
    inputs: list[Any]
    against: list[Any] | None
    config: Config
    progress: Progress
    spark_engine: SparkEngine | None
    plan: SamplingPlan | None = None
    further: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, verb: str, inputs: Any, against: Any, config: Config | None, progress: Progress | None,
        engine: SparkEngine | str | None, settings: Mapping[str, Any], signature: str | None = None,
    ) -> VerbRun:  # fmt: skip
        """Return the run of a call; `signature` is the one that is usual for the verb."""
        from ibidem.formats.python_inputs import settle

        made, spark_engine = _with_engine(config, engine, settings)
        check_paper(made, verb)
        made = made.with_alignment() if verb == "find" else made  # before the signature, on which it depends
        made = made if signature is None else made.with_signature(signature)
        on_spark = spark_engine is not None
        reference = None if against is None else settle(against, on_spark)
        if verb == "cluster" and made.clusters.by_group and reference is not None:
            whole = "leave out the reference, or put both into one input"
            raise SettingsError([f"{named('by_group')} compares the groups of the inputs; {whole}"])
        if reference is None and made.reference != ReferenceConfig():
            wrong = [f.name for f in fields(ReferenceConfig) if getattr(made.reference, f.name) != f.default]
            raise SettingsError([f"{named(wrong[0])} is a field of the reference; add {named('against')}"])
        return cls(verb, settle(inputs, on_spark), reference, made, progress or Progress(), spark_engine)

    def with_plan(self, plan: SamplingPlan | str | os.PathLike[str] | None) -> VerbRun:
        """Return the same run with a sampling plan, or that of a file; it must be made for the settings of the run."""
        if isinstance(plan, (str, os.PathLike)):
            plan = SamplingPlan.load(plan)
        if plan is not None:
            plan.check(self.config)
            if self.verb == "dedup" and self.config.cleaning.level != "document":
                level = self.config.cleaning.level
                raise SettingsError([f"a sampling plan is for {given('level', 'document')}, not for {given('level', level)}"])
        return replace(self, plan=plan)

    def carry_out(self, program: Callable[[Run[Any]], AnyResult]) -> AnyResult:
        """Run a program on Spark if asked to, otherwise in memory if the inputs fit, and on disk if they do not."""
        from ibidem.execution.disk.work_folder import earlier_seed
        from ibidem.execution.hash_seed import with_seed
        from ibidem.execution.run import MemoryRun, OutgrownError
        from ibidem.execution.storage_choice import room_in_memory
        from ibidem.formats.word_tables import describe_words

        describe_words(self.config)  # first: errors in files of words are reported before documents are read
        config = with_seed(self.verb, self.config, self.plan, earlier_seed(self.config))
        sides = self.inputs, self.against
        if self.spark_engine is not None:
            from ibidem.execution.spark.run import SparkRun

            with SparkRun(self.spark_engine, *sides, config, self.progress) as on_spark:
                return program(on_spark)
        most_text_bytes = room_in_memory(self.verb, *sides, config, self.progress)
        if most_text_bytes is not None:
            try:
                with MemoryRun(*sides, config, self.progress, most_text_bytes) as in_memory:
                    return program(in_memory)
            except OutgrownError:
                self.progress.tell("the texts are larger than the compressed size suggested; restarting on disk")
                self.progress.forget()
        from ibidem.execution.disk.run import DiskRun

        with DiskRun(self.verb, *sides, config, self.progress, self.plan, self.further) as on_disk:
            return program(on_disk)


def _with_engine(
    config: Config | None, engine: SparkEngine | str | None, settings: Mapping[str, Any]
) -> tuple[Config, SparkEngine | None]:
    """Return the settings, and the Spark engine that is given or asked for by its name; None for the local one."""
    if engine is None or isinstance(engine, str):
        config = Config.of(config, **settings, **({} if engine is None else {"engine": engine}))
        if config.engine.engine == "local":
            return config, None
        from ibidem.execution.spark.engine import own_engine

        return config, own_engine(config.engine, {})
    return Config.of(config, **settings, engine="spark"), engine
