"""The public names of the package, each once: `__init__.py` loads its module on first use."""

from . import (
    audit as audit,
    experiments as experiments,
    planning as planning,
    plots as plots,
    policies as policies,
    simulation as simulation,
)
from ._version import __version__ as __version__
from .audit import (
    Audit as Audit,
    audit_scores as audit_scores,
    score_log as score_log,
    ScoreLog as ScoreLog,
)
from .base.errors import (
    AffinityError as AffinityError,
    CallerError as CallerError,
    InvalidInput as InvalidInput,
    MissingExtra as MissingExtra,
    NotSupported as NotSupported,
    StateMismatch as StateMismatch,
    UnknownName as UnknownName,
)
from .catalogue import policy_from_json as policy_from_json
from .experiments import (
    Cell as Cell,
    cell_summaries as cell_summaries,
    Experiment as Experiment,
    run_cells as run_cells,
    run_experiment as run_experiment,
    Store as Store,
    Sweep as Sweep,
)
from .model.bandit import AffinityBandit as AffinityBandit
from .model.bias import (
    Bias as Bias,
    bias_from_json as bias_from_json,
    Clipped as Clipped,
    Constant as Constant,
    Custom as Custom,
    InGroupBonus as InGroupBonus,
    PiecewisePower as PiecewisePower,
    Plateau as Plateau,
    Power as Power,
    Root as Root,
    Sigmoid as Sigmoid,
    Step as Step,
)
from .model.committee import (
    Joining as Joining,
    Judges as Judges,
)
from .model.judges import JudgeWorld as JudgeWorld
from .model.noise import (
    Bernoulli as Bernoulli,
    Beta as Beta,
    CustomNoise as CustomNoise,
    Empirical as Empirical,
    Gaussian as Gaussian,
    Noise as Noise,
    noise_from_json as noise_from_json,
    Ordinal as Ordinal,
)
from .planning import (
    Assumptions as Assumptions,
    make_plan as make_plan,
    Plan as Plan,
)
from .plots import (
    draw_plan as draw_plan,
    draw_quantiles as draw_quantiles,
    draw_ranking as draw_ranking,
    draw_regret as draw_regret,
    draw_sureness as draw_sureness,
    draw_sweep as draw_sweep,
    save_for_print as save_for_print,
)
from .policies import (
    BlockPolicy as BlockPolicy,
    Blocks as Blocks,
    CrossedElimination as CrossedElimination,
    DebiasedUCBV as DebiasedUCBV,
    EfficientUCBV as EfficientUCBV,
    Elimination as Elimination,
    EpsilonGreedy as EpsilonGreedy,
    EXP3 as EXP3,
    EXP3Gains as EXP3Gains,
    EXP3IX as EXP3IX,
    ExploreThenCommit as ExploreThenCommit,
    HeadStartElimination as HeadStartElimination,
    InPython as InPython,
    KLUCB as KLUCB,
    Live as Live,
    LUCB as LUCB,
    MembersElimination as MembersElimination,
    MemoryElimination as MemoryElimination,
    MOSS as MOSS,
    NeutralElimination as NeutralElimination,
    Oracle as Oracle,
    PanelElimination as PanelElimination,
    Policy as Policy,
    RecusalElimination as RecusalElimination,
    RoundPolicy as RoundPolicy,
    SequentialHalving as SequentialHalving,
    StepPolicy as StepPolicy,
    SuccessiveRejects as SuccessiveRejects,
    ThompsonBeta as ThompsonBeta,
    ThompsonGaussian as ThompsonGaussian,
    UCB1 as UCB1,
    UCBV as UCBV,
    Uniform as Uniform,
    WeightedUCB as WeightedUCB,
)
from .simulation import (
    Environment as Environment,
    PairedDifference as PairedDifference,
    PolicyRun as PolicyRun,
    RankedPolicy as RankedPolicy,
    Ranking as Ranking,
    Result as Result,
    RunLog as RunLog,
    simulate as simulate,
    simulate_blocks as simulate_blocks,
    simulate_log as simulate_log,
    simulate_slots as simulate_slots,
    StepRun as StepRun,
    SummaryRow as SummaryRow,
    write_logs as write_logs,
)
