import type { GuardFinding, TurnFinding, TurnStage } from '../call/guarding/guard-finding.ts'

const rank = ['passed', 'failed', 'flagged', 'redacted', 'blocked'] as const
const maxFindings = 64

/** What the guardrails of one call found so far. */
export class GuardReport {
  readonly #names: readonly string[]
  readonly #findings = new Map<string, GuardFinding>()
  readonly #ofTurn = new Map<string, TurnFinding>()

  constructor(names: readonly string[]) {
    this.#names = names
  }

  /**
   * Notes a finding; those of the same check and outcome are counted together.
   *
   * @param stage null for a message of an earlier turn or step, which reported it.
   */
  add(finding: GuardFinding, stage: TurnStage | null): void {
    count(this.#findings, finding)
    const { on: _on, ...rest } = finding
    if (stage !== null) count(this.#ofTurn, { ...rest, stage })
  }

  get findings(): readonly GuardFinding[] {
    return [...this.#findings.values()]
  }

  /** The findings in the answer and in what is new since the last one. */
  get ofTurn(): readonly TurnFinding[] {
    return [...this.#ofTurn.values()]
  }

  /**
   * The header that says what each guardrail found.
   *
   * @param pending guardrails that have still to check the answer, since the headers of a stream precede it.
   */
  headers(pending: ReadonlySet<string> = none): readonly (readonly [name: string, value: string])[] {
    const outcomes = this.#names.map((name) => {
      const ranks = this.findings.flatMap(({ guardrail, outcome }) =>
        guardrail === name ? [rank.indexOf(outcome)] : [],
      )
      const outcome = rank[Math.max(0, ...ranks)] ?? 'passed'
      return `${name};${outcome === 'passed' && pending.has(name) ? 'pending' : outcome}`
    })
    return [['x-guardrails', outcomes.join(', ')]]
  }
}

const count = <T extends { readonly found: number }>(known: Map<string, T>, finding: T): void => {
  const key = JSON.stringify({ ...finding, found: 0 })
  const found = finding.found + (known.get(key)?.found ?? 0)
  if (known.has(key) || known.size < maxFindings) known.set(key, { ...finding, found })
}

const none: ReadonlySet<string> = new Set()
