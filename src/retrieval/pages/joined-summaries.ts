import type { SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { Columns, packed, textColumn } from '../segments/columns.ts'

/** Number of entries that are joined in one step. */
const entriesEach = 16_384

/** Returns the segments that a joined summary has. */
export const joinedIn = (summary: Uint8Array): readonly string[] => new Columns(summary).items('joined')

/** Adds the summary of a segment to those of others. A word has one entry, and a link one for each host that has it. */
export function* joinedSummaries(
  joined: Uint8Array | null,
  { id, summary }: { readonly id: string; readonly summary: Uint8Array },
): SlicedWork<Uint8Array> {
  const [a, b] = [joined ?? packed({}), summary].map((bytes) => new Columns(bytes))
  if (a === undefined || b === undefined) return summary
  const hosts = new Map(a.items('hosts').map((host, at) => [host, at]))
  yield
  const moved = b.items('hosts').map((host) => {
    if (!hosts.has(host)) hosts.set(host, hosts.size)
    return hosts.get(host) ?? 0
  })
  yield
  const words = yield* joinedColumns(
    { keys: a.words('hashes'), values: a.integers('counts') },
    { keys: b.words('hashes'), values: b.integers('counts') },
    (one, other) => one + other,
  )
  const links = yield* joinedColumns(
    { keys: a.doubles('link keys'), values: a.integers('link hosts') },
    { keys: b.doubles('link keys'), values: b.integers('link hosts').map((host) => moved[host] ?? 0) },
    (one, other) => (one === other ? one : null),
  )
  const [totals, others] = [a.doubles('totals'), b.doubles('totals')]
  const languages = a.integers('languages')
  return packed({
    totals: others.map((count, at) => count + (totals[at] ?? 0)),
    languages: b.integers('languages').map((count, at) => count + (languages[at] ?? 0)),
    ...{ hashes: Uint32Array.from(words.keys), counts: words.values },
    ...{ 'link keys': links.keys, 'link hosts': links.values, hosts: textColumn([...hosts.keys()]) },
    joined: textColumn([...a.items('joined'), id]),
  })
}

interface Entries {
  /** Ascending. */
  readonly keys: Uint32Array | Float64Array
  readonly values: Int32Array
}

/** Joins entries. @param same returns the value of two entries of one key; null: both stay. */
function* joinedColumns(
  a: Entries,
  b: Entries,
  same: (one: number, other: number) => number | null,
): SlicedWork<{ readonly keys: Float64Array; readonly values: Int32Array }> {
  const length = a.keys.length + b.keys.length
  const [keys, values] = [new Float64Array(length), new Int32Array(length)]
  let used = 0
  for (let [i, j] = [0, 0]; i + j < length; ) {
    if ((i + j) % entriesEach === 0) yield
    const isFirst = j >= b.keys.length || (i < a.keys.length && (a.keys[i] ?? 0) <= (b.keys[j] ?? 0))
    const [{ keys: from, values: of }, at] = isFirst ? [a, i++] : [b, j++]
    const [key, value] = [from[at] ?? 0, of[at] ?? 0]
    const known = used > 0 && keys[used - 1] === key ? same(values[used - 1] ?? 0, value) : null
    if (known === null) {
      keys[used] = key
      values[used++] = value
    } else values[used - 1] = known
  }
  return { keys: keys.slice(0, used), values: values.slice(0, used) }
}
