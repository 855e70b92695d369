import type { GuardFinding } from '../call/guarding/guard-finding.ts'

const rank = ['passed', 'failed', 'flagged', 'redacted', 'blocked'] as const
const maxFindings = 64

/** What the guardrails of one call found so far. */
export class GuardReport {
  readonly #names: readonly string[]
  readonly #findings: GuardFinding[] = []

  constructor(names: readonly string[]) {
    this.#names = names
  }

  /** Notes a finding; those of the same check and outcome are counted together. */
  add(finding: GuardFinding): void {
    const { guardrail, check, on, outcome, found } = finding
    const same = this.#findings.findIndex(
      (each) => each.guardrail === guardrail && each.check === check && each.on === on && each.outcome === outcome,
    )
    const before = this.#findings[same]
    if (before !== undefined) this.#findings[same] = { ...before, found: before.found + found }
    else if (this.#findings.length < maxFindings) this.#findings.push(finding)
  }

  get findings(): readonly GuardFinding[] {
    return this.#findings
  }

  /**
   * The header that says what each guardrail found.
   *
   * @param pending guardrails that have still to check the answer, since the headers of a stream precede it.
   */
  headers(pending: ReadonlySet<string> = none): readonly (readonly [name: string, value: string])[] {
    const outcomes = this.#names.map((name) => {
      const ranks = this.#findings.flatMap(({ guardrail, outcome }) =>
        guardrail === name ? [rank.indexOf(outcome)] : [],
      )
      const outcome = rank[Math.max(0, ...ranks)] ?? 'passed'
      return `${name};${outcome === 'passed' && pending.has(name) ? 'pending' : outcome}`
    })
    return [['x-guardrails', outcomes.join(', ')]]
  }
}

const none: ReadonlySet<string> = new Set()
