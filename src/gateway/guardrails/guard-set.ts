import type { GuardCheck } from '#specs/resources/gateway/guardrails.ts'
import type { SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { type LocalCheck, type LocalSpec, preparedCheck } from './local-checks.ts'

/** A guardrail whose checks are ready to be made. */
export interface PreparedGuardrail {
  readonly id: string
  /** Of its row. */
  readonly version: number
  readonly name: string
  readonly isDefault: boolean
  readonly checks: readonly (ActiveLocal | ActiveRemote)[]
}

/** Where a check is made. */
export type GuardStage = 'input' | 'output'

interface OfGuardrail {
  /** Name of its guardrail. */
  readonly guardrail: string
}

/** A check made in this process. */
export interface ActiveLocal extends OfGuardrail {
  readonly spec: LocalSpec
  readonly check: LocalCheck
}

/** A check that another model or server makes, or a worker. */
export interface ActiveRemote extends OfGuardrail {
  readonly spec: Exclude<GuardCheck, LocalSpec>
}

/** The checks of one stage. */
interface StageChecks {
  readonly local: readonly ActiveLocal[]
  readonly remote: readonly ActiveRemote[]
}

/** All checks of a call. */
export interface GuardSet {
  readonly names: readonly string[]
  readonly input: StageChecks
  readonly output: StageChecks
}

/** The first guardrail that blocks or replaces anything; null if all of them only flag. */
export const enforcedBy = ({ input, output }: GuardSet): string | null =>
  [...input.local, ...input.remote, ...output.local, ...output.remote].find(({ spec }) => spec.action !== 'flag')
    ?.guardrail ?? null

const isLocal = (spec: GuardCheck): spec is LocalSpec =>
  spec.type !== 'json_schema' && spec.type !== 'model' && spec.type !== 'http'

/** Prepares the checks of a guardrail, pattern by pattern. @throws {ServiceError} `invalid_field` for one that cannot be made. */
export function* prepared(guardrail: string, specs: readonly GuardCheck[]): SlicedWork<PreparedGuardrail['checks']> {
  const checks: (ActiveLocal | ActiveRemote)[] = []
  for (const spec of specs) {
    checks.push(isLocal(spec) ? { guardrail, spec, check: yield* preparedCheck(spec) } : { guardrail, spec })
    yield
  }
  return checks
}

/** Returns the checks of some guardrails. */
export const guardSet = (guardrails: readonly PreparedGuardrail[]): GuardSet => {
  const all = guardrails.flatMap(({ checks }) => checks)
  const at = (stage: GuardStage): StageChecks => {
    const here = all.filter(({ spec }) => spec.on === stage || spec.on === 'both')
    return {
      local: here.flatMap((each) => ('check' in each ? [each] : [])),
      // a repaired answer is judged as any other
      remote: here
        .flatMap((each) => ('check' in each ? [] : [each]))
        .toSorted((a, b) => Number(b.spec.type === 'json_schema') - Number(a.spec.type === 'json_schema')),
    }
  }
  return { names: guardrails.map(({ name }) => name), input: at('input'), output: at('output') }
}
