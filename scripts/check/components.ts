import { importsOf } from './imports.ts'
import type { Finding, SourceFile } from './source-files.ts'

/**
 * Import graph between components. A component is a folder whose files belong together: a layer, or one folder of src/actors or
 * src/gateway. Cyclic imports between components are forbidden, since no component in a cycle can be changed alone. Imports
 * between capabilities have to be on a short list.
 */
export interface Graph {
  /** Components by name, each with the components that it imports and the first import of each. */
  readonly arrows: ReadonlyMap<string, ReadonlyMap<string, Finding>>
}

/** Components of src/actors that every capability may import. */
const ground: readonly string[] = [
  'actors/call',
  'actors/capability',
  'actors/records',
  'actors/runtime',
  'actors/audit',
  'actors/indexing',
]

/**
 * Imports that are allowed between capabilities. A new one is a decision: add it here, together with the import that
 * needs it.
 */
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
  'actors/observation -> actors/knowledge',
  'actors/observation -> actors/sessions',
  'actors/observation -> actors/tenants',
  'actors/observation -> actors/webhooks',
  'actors/operators -> actors/sessions',
  'actors/retention -> actors/operators',
  'actors/retention -> actors/runs',
  'actors/retention -> actors/sessions',
  'actors/runs -> actors/accounts',
  'actors/runs -> actors/agents',
  'actors/runs -> actors/connections',
  'actors/runs -> actors/sessions',
  'actors/runs -> actors/webhooks',
  'actors/sessions -> actors/accounts',
  'actors/sessions -> actors/tenants',
  'actors/skills -> actors/accounts',
  'actors/tenants -> actors/accounts',
  'actors/usage -> actors/tenants',
]

/** Returns the component of a path from the project's root; null for a path outside the product. */
export const componentOf = (path: string): string | null => {
  const inner = /^src\/(actors|gateway)\/([^/]+)\//.exec(path)
  if (inner !== null) return `${inner[1]}/${inner[2]}`
  const layer = /^src\/([^/]+)\//.exec(path)
  if (layer !== null) return `${layer[1]}`
  if (/^src\/(config|environment-reader|provider-config|redis-config)\.ts$/.test(path)) return 'config'
  if (/^src\/[^/]+$/.test(path)) return 'main'
  return path.startsWith('specs/') ? 'specs' : null
}

/** Returns the imports between components. */
export const componentGraph = (files: readonly SourceFile[]): Graph => {
  const arrows = new Map<string, Map<string, Finding>>()
  for (const file of files) {
    const from = componentOf(file.path)
    if (from === null) continue
    const out = arrows.get(from) ?? new Map<string, Finding>()
    arrows.set(from, out)
    for (const { target, line } of importsOf(file)) {
      const to = componentOf(target)
      if (to === null || to === from || out.has(to)) continue
      out.set(to, { path: file.path, line, message: `${from} -> ${to} (${target})` })
    }
  }
  return { arrows }
}

/** Finds each import that is part of a cycle of components, and each import between capabilities that is not on the list. */
export const componentFindings = ({ arrows }: Graph): readonly Finding[] => [
  ...cycleOf(arrows).map((found) => ({ ...found, message: `closes a cycle of components: ${found.message}` })),
  ...unlisted(arrows).map((found) => ({ ...found, message: `a new arrow between capabilities: ${found.message}` })),
]

/** Formats the graph as lines: each component with its imports, the lowest components first. */
export const drawn = ({ arrows }: Graph): readonly string[] => {
  const heights = new Map<string, number>()
  const heightOf = (component: string, above: readonly string[] = []): number => {
    if (above.includes(component)) return 0
    const known = heights.get(component)
    if (known !== undefined) return known
    const below = [...(arrows.get(component)?.keys() ?? [])].map((each) => heightOf(each, [...above, component]))
    const height = Math.max(-1, ...below) + 1
    heights.set(component, height)
    return height
  }
  return [...arrows.keys()]
    .toSorted((a, b) => heightOf(a) - heightOf(b) || a.localeCompare(b))
    .map(
      (component) => `${component} -> ${[...(arrows.get(component)?.keys() ?? [])].toSorted().join(', ') || 'nothing'}`,
    )
}

/**
 * Returns the imports between components that are left after repeatedly removing all components that import no other: these
 * contain a cycle.
 */
const cycleOf = (arrows: Graph['arrows']): readonly Finding[] => {
  const left = new Map([...arrows].map(([component, out]) => [component, new Map(out)]))
  for (let taken = true; taken; ) {
    taken = false
    for (const [component, out] of left) {
      if ([...out.keys()].some((to) => left.has(to))) continue
      left.delete(component)
      taken = true
    }
  }
  const reached = new Set([...left.values()].flatMap((out) => [...out.keys()]))
  return [...left]
    .filter(([component]) => reached.has(component))
    .flatMap(([, out]) => [...out].filter(([to]) => left.has(to)).map(([, finding]) => finding))
}

const isCapability = (component: string): boolean => component.startsWith('actors/') && !ground.includes(component)

const unlisted = (arrows: Graph['arrows']): readonly Finding[] =>
  [...arrows]
    .filter(([component]) => isCapability(component))
    .flatMap(([component, out]) =>
      [...out].filter(([to]) => isCapability(to) && !arrowsBetweenCapabilities.includes(`${component} -> ${to}`)),
    )
    .map(([, finding]) => finding)
