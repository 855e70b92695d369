import { importsOf } from './imports.ts'
import type { Finding, SourceFile } from './source-files.ts'

/**
 * A room is a folder whose files belong together: a layer, or one folder of src/actors and src/gateway. No reader can
 * change a part of a circle of rooms alone, so there is none; and what one capability knows of another is a short list.
 */
export interface Graph {
  /** Rooms by name, each with the rooms that it imports and the first import of each. */
  readonly arrows: ReadonlyMap<string, ReadonlyMap<string, Finding>>
}

/** Rooms of src/actors on which the capabilities stand. */
const ground: readonly string[] = [
  'actors/call',
  'actors/capability',
  'actors/records',
  'actors/runtime',
  'actors/audit',
]

/** Which capability may know which other one. A new arrow is a decision: add it here, with the import that needs it. */
const arrowsBetweenCapabilities: readonly string[] = [
  'actors/agents -> actors/accounts',
  'actors/agents -> actors/sessions',
  'actors/agents -> actors/tenants',
  'actors/agents -> actors/usage',
  'actors/backup -> actors/accounts',
  'actors/client-tokens -> actors/accounts',
  'actors/client-tokens -> actors/agents',
  'actors/client-tokens -> actors/tenants',
  'actors/memory -> actors/accounts',
  'actors/connections -> actors/tenants',
  'actors/connections -> actors/accounts',
  'actors/knowledge -> actors/agents',
  'actors/mcp -> actors/accounts',
  'actors/knowledge -> actors/tenants',
  'actors/mcp -> actors/tenants',
  'actors/observation -> actors/agents',
  'actors/observation -> actors/browser',
  'actors/observation -> actors/sessions',
  'actors/observation -> actors/tenants',
  'actors/observation -> actors/webhooks',
  'actors/operators -> actors/sessions',
  'actors/retention -> actors/operators',
  'actors/retention -> actors/runs',
  'actors/retention -> actors/sessions',
  'actors/runs -> actors/agents',
  'actors/runs -> actors/sessions',
  'actors/sessions -> actors/accounts',
  'actors/sessions -> actors/tenants',
  'actors/tenants -> actors/accounts',
  'actors/usage -> actors/tenants',
]

/** The room of a path from the project's root; null for what is no part of the product. */
export const roomOf = (path: string): string | null => {
  const inner = /^src\/(actors|gateway)\/([^/]+)\//.exec(path)
  if (inner !== null) return `${inner[1]}/${inner[2]}`
  const layer = /^src\/([^/]+)\//.exec(path)
  if (layer !== null) return `${layer[1]}`
  if (path === 'src/config.ts') return 'config'
  if (/^src\/[^/]+$/.test(path)) return 'main'
  return path.startsWith('specs/') ? 'specs' : null
}

/** Who imports whom, by room. */
export const roomGraph = (files: readonly SourceFile[]): Graph => {
  const arrows = new Map<string, Map<string, Finding>>()
  for (const file of files) {
    const from = roomOf(file.path)
    if (from === null) continue
    const out = arrows.get(from) ?? new Map<string, Finding>()
    arrows.set(from, out)
    for (const { target, line } of importsOf(file)) {
      const to = roomOf(target)
      if (to === null || to === from || out.has(to)) continue
      out.set(to, { path: file.path, line, message: `${from} -> ${to} (${target})` })
    }
  }
  return { arrows }
}

/** Each import that closes a circle of rooms, and each arrow between capabilities that is not on the list. */
export const roomFindings = ({ arrows }: Graph): readonly Finding[] => [
  ...circleOf(arrows).map((found) => ({ ...found, message: `closes a circle of rooms: ${found.message}` })),
  ...unlisted(arrows).map((found) => ({ ...found, message: `a new arrow between capabilities: ${found.message}` })),
]

/** The graph in lines: a room and what it imports, the lowest rooms first. */
export const drawn = ({ arrows }: Graph): readonly string[] => {
  const heights = new Map<string, number>()
  const heightOf = (room: string, above: readonly string[] = []): number => {
    if (above.includes(room)) return 0
    const known = heights.get(room)
    if (known !== undefined) return known
    const below = [...(arrows.get(room)?.keys() ?? [])].map((each) => heightOf(each, [...above, room]))
    const height = Math.max(-1, ...below) + 1
    heights.set(room, height)
    return height
  }
  return [...arrows.keys()]
    .toSorted((a, b) => heightOf(a) - heightOf(b) || a.localeCompare(b))
    .map((room) => `${room} -> ${[...(arrows.get(room)?.keys() ?? [])].toSorted().join(', ') || 'nothing'}`)
}

/** Rooms are taken away while they import nothing that is left; what stays has a circle. */
const circleOf = (arrows: Graph['arrows']): readonly Finding[] => {
  const left = new Map([...arrows].map(([room, out]) => [room, new Map(out)]))
  for (let taken = true; taken; ) {
    taken = false
    for (const [room, out] of left) {
      if ([...out.keys()].some((to) => left.has(to))) continue
      left.delete(room)
      taken = true
    }
  }
  const reached = new Set([...left.values()].flatMap((out) => [...out.keys()]))
  return [...left]
    .filter(([room]) => reached.has(room))
    .flatMap(([, out]) => [...out].filter(([to]) => left.has(to)).map(([, finding]) => finding))
}

const isCapability = (room: string): boolean => room.startsWith('actors/') && !ground.includes(room)

const unlisted = (arrows: Graph['arrows']): readonly Finding[] =>
  [...arrows]
    .filter(([room]) => isCapability(room))
    .flatMap(([room, out]) =>
      [...out].filter(([to]) => isCapability(to) && !arrowsBetweenCapabilities.includes(`${room} -> ${to}`)),
    )
    .map(([, finding]) => finding)
