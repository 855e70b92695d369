import type { QueryOf, ResultOf } from '#specs/index.ts'
import type { RecordStore, Scope } from '#storage/index.ts'
import { idFloor } from '../runtime/internal.ts'
import type { SeriesBuckets, Span } from './series-buckets.ts'
import { type Dimension, SeriesSums } from './series-sums.ts'
import { type ToolCallData, toolCallPrefix, toolCallRows } from './tool-calls.ts'

type Series = ResultOf<'observation.series'>

const minute = 60_000
const hour = 60 * minute

/** Number and length in ms of the buckets of each range. */
const ranges = {
  hour: { count: 60, ms: minute },
  day: { count: 48, ms: 30 * minute },
  week: { count: 56, ms: 3 * hour },
  month: { count: 60, ms: 12 * hour },
} as const

/** Most groups that are listed. */
const maxGroups = 8
/** Newest tool calls from which the health of tools is computed, and the number that one page has. */
const maxToolCalls = 5_000
const toolPage = 1_000

/** Dependencies of `series`. */
export interface SeriesParts {
  readonly buckets: SeriesBuckets
  readonly records: RecordStore
  readonly now: () => number
}

/** Returns the calls of a project by time, with the totals of the period before, and the health of its tools. */
export const series = async (
  { buckets, records, now }: SeriesParts,
  scope: Scope,
  { range, by }: QueryOf<'observation.series'>,
): Promise<Series> => {
  const { count, ms } = ranges[range]
  const end = (Math.floor(now() / ms) + 1) * ms
  const spans = Array.from({ length: 2 * count }, (_, index): Span => {
    const toMs = end - (2 * count - 1 - index) * ms
    return { fromMs: toMs - ms, toMs }
  })
  const { sums, complete } = await buckets.read(scope, spans)
  const [before, shown] = [sums.slice(0, count), sums.slice(count)]
  const fromMs = end - count * ms
  return {
    ...{ from: time(fromMs), to: time(end), bucket_ms: ms, complete },
    data: shown.map((each, index) => ({ at: time(fromMs + index * ms), ...view(each) })),
    totals: view(joined(shown)),
    totals_before: view(joined(before)),
    groups: groupsOf(shown, by),
    tools: await toolHealth(records, scope, fromMs),
  }
}

const time = (ms: number): string => new Date(ms).toISOString()

const joined = (all: readonly SeriesSums[]): SeriesSums => {
  const sums = new SeriesSums()
  for (const each of all) sums.join(each)
  return sums
}

const view = (sums: SeriesSums): Series['totals'] => ({
  ...{ calls: sums.calls, errors: sums.errors, cost_usd: rounded(sums.usd) },
  ...{ input_tokens: sums.input, output_tokens: sums.output },
  ...{ p50_ms: sums.percentile(0.5), p95_ms: sums.percentile(0.95) },
})

/** Sums of decimal amounts, without the error of binary fractions. */
const rounded = (usd: number): number => Number(usd.toFixed(9))

/** The groups with the highest cost, then the most calls, and the cost and calls of each by bucket. */
const groupsOf = (shown: readonly SeriesSums[], by: Dimension): Series['groups'] =>
  [...joined(shown).groupsOf(by)]
    .sort(([, a], [, b]) => b.usd - a.usd || b.calls - a.calls)
    .slice(0, maxGroups)
    .map(([name, { calls, errors, usd, tokens }]) => {
      const parts = shown.map((each) => each.groupsOf(by).get(name))
      return {
        ...{ name: name === '' ? null : name, calls, errors, tokens, cost_usd: rounded(usd) },
        costs: parts.map((part) => rounded(part?.usd ?? 0)),
        counts: parts.map((part) => part?.calls ?? 0),
      }
    })

const toolHealth = async (records: RecordStore, scope: Scope, fromMs: number): Promise<Series['tools']> => {
  const calls: ToolCallData[] = []
  const floor = idFloor(toolCallPrefix, fromMs)
  for (let after: string | undefined, more = true; more; ) {
    const page = await records.list(toolCallRows, scope, { limit: toolPage, ...(after !== undefined && { after }) })
    const inside = page.filter(({ id }) => id >= floor)
    for (const { data } of inside) calls.push(toolCallOf(data))
    after = inside.at(-1)?.id
    more = inside.length === toolPage && calls.length < maxToolCalls
  }
  return [...Map.groupBy(calls, ({ tool }) => tool)]
    .map(([tool, all]) => {
      const times = all.map(({ took_ms }) => took_ms).sort((a, b) => a - b)
      const failures = all.filter(({ code }) => code !== null).length
      const p95_ms = times[Math.min(times.length - 1, Math.floor(times.length * 0.95))] ?? 0
      return { tool, calls: all.length, failures, p95_ms }
    })
    .sort((a, b) => b.failures - a.failures || b.calls - a.calls)
}

const toolCallOf = ({ tool, actor, took_ms, code }: Readonly<Record<string, unknown>>): ToolCallData => ({
  ...{ tool: String(tool), actor: String(actor), took_ms: Number(took_ms) },
  code: typeof code === 'string' ? code : null,
})
