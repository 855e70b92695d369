import type { Fact } from './fact.ts'
import { user } from './fact.ts'
import { normalisedName } from './names.ts'

/** A statement as a directed edge between two names. */
interface Edge {
  readonly source: string
  readonly relation: string
  readonly target: string
}

/** A name reached by a walk, with the relations on the path to it. */
interface ReachedNode {
  readonly name: string
  readonly hops: number
  readonly path: readonly string[]
}

/** Result of a walk from `seed`, nearest first. */
export interface Walk {
  readonly seed: string
  readonly nodes: readonly ReachedNode[]
  readonly edges: readonly Edge[]
}

/** A fact passed by a walk, and the number of edges from the seed up to and including it. */
export interface ConnectedFact {
  readonly fact: Fact
  readonly hops: number
}

/** Maximum number of nodes per walk. */
export const maxNodes = 100

/** Number of walks whose facts are cached, since conversations name the same few entities. */
const maxKept = 16

/** Maximum distance of a walk from its seed, in edges. */
const maxHops = 4

/** Graph of the names in the given facts; the caller selects which facts hold. */
export class FactGraph {
  readonly #names = new Map<string, string>()
  readonly #arrows = new Map<string, Arrow[]>()
  readonly #aliases = new Map<string, string>()
  /** Keys of names by their first word, so that a text is scanned once, however many names there are. */
  readonly #byFirstWord = new Map<string, string[]>()
  readonly #connected = new Map<string, readonly ConnectedFact[]>()

  constructor(facts: readonly Fact[]) {
    for (const _ of this.#build(facts));
  }

  /** Builds the graph of many facts; `rest` is called after each and may return a promise to wait for. */
  static async gradually(facts: readonly Fact[], rest: () => Promise<void> | undefined): Promise<FactGraph> {
    const graph = new FactGraph([])
    for (const _ of graph.#build(facts)) {
      const waits = rest()
      if (waits !== undefined) await waits
    }
    return graph
  }

  *#build(facts: readonly Fact[]): Generator<void> {
    for (const fact of facts) {
      if (fact.subject === user) this.#alias(fact)
      yield
    }
    for (const fact of facts) {
      this.#add(fact)
      yield
    }
  }

  /** Returns names by their number of statements, most first. */
  entities(): readonly string[] {
    return [...this.#names].toSorted(([a], [b]) => this.#degree(b) - this.#degree(a)).map(([, name]) => name)
  }

  /** Returns the known names in a text, longest first; never `user`. */
  named(text: string): readonly string[] {
    const words = ` ${normalisedName(text)} `
    return [...new Set(words.split(' '))]
      .flatMap((word) => this.#byFirstWord.get(word) ?? [])
      .filter((key) => words.includes(` ${key} `))
      .toSorted((a, b) => b.length - a.length)
      .map((key) => this.#nameOf(key))
  }

  /** Walks the graph from an entity, following edges in both directions. */
  traverse(entity: string, hops: number): Walk {
    const { seed, nodes, passed } = this.#walk(entity, hops)
    const edges = [...passed.keys()].map(({ fact, from, to }) => ({
      source: this.#nameOf(from),
      relation: fact.relation,
      target: this.#nameOf(to),
    }))
    return { seed, nodes, edges }
  }

  /** Returns the facts passed by a walk from an entity, nearest first. */
  connected(entity: string, hops: number): readonly ConnectedFact[] {
    const key = `${hops} ${this.#keyOf(entity)}`
    const known = this.#connected.get(key)
    if (known !== undefined) return known
    const found = [...this.#walk(entity, hops).passed].map(([{ fact }, far]) => ({ fact, hops: far }))
    if (this.#connected.size >= maxKept) this.#connected.clear()
    this.#connected.set(key, found)
    return found
  }

  #walk(entity: string, hops: number) {
    const start = this.#keyOf(entity)
    const reached = new Map<string, ReachedNode>()
    const passed = new Map<Arrow, number>()
    let border: ReachedNode[] = [{ name: start, hops: 0, path: [] }]
    for (let far = 1; far <= Math.min(hops, maxHops) && reached.size < maxNodes; far++) {
      const next: ReachedNode[] = []
      for (const { name: from, path } of border) {
        for (const arrow of this.#arrows.get(from) ?? []) {
          const to = arrow.from === from ? arrow.to : arrow.from
          const known = to === start || reached.has(to)
          if (!known && reached.size >= maxNodes) continue
          if (!passed.has(arrow)) passed.set(arrow, far)
          if (known) continue
          const node = { name: to, hops: far, path: [...path, arrow.fact.relation] }
          reached.set(to, node)
          next.push(node)
        }
      }
      border = next
    }
    const nodes = [...reached.values()].map((node) => ({ ...node, name: this.#nameOf(node.name) }))
    return { seed: this.#nameOf(start, entity), nodes, passed }
  }

  #add(fact: Fact): void {
    if (fact.object === '') return
    const arrow = { fact, from: this.#learn(fact.subject), to: this.#learn(fact.object) }
    if (arrow.from === arrow.to) return
    for (const key of [arrow.from, arrow.to]) {
      const arrows = this.#arrows.get(key) ?? []
      this.#arrows.set(key, arrows)
      arrows.push(arrow)
    }
  }

  /** Makes "user's sister" an alias of Anna when "my sister is Anna" is the only such fact. */
  #alias({ relation, object }: Fact): void {
    const key = normalisedName(`user's ${relation}`)
    if (this.#aliases.has(key)) this.#aliases.set(key, key)
    else this.#aliases.set(key, normalisedName(object))
  }

  #learn(name: string): string {
    const key = this.#keyOf(name)
    if (this.#names.has(key)) return key
    this.#names.set(key, name)
    if (key !== user && key.length > 1) {
      const first = key.split(' ')[0] ?? ''
      const alike = this.#byFirstWord.get(first) ?? []
      this.#byFirstWord.set(first, alike)
      alike.push(key)
    }
    return key
  }

  #keyOf(name: string): string {
    const key = normalisedName(name)
    return this.#aliases.get(key) ?? key
  }

  #nameOf(key: string, otherwise = key): string {
    return this.#names.get(key) ?? otherwise
  }

  #degree(key: string): number {
    return this.#arrows.get(key)?.length ?? 0
  }
}

interface Arrow {
  readonly fact: Fact
  readonly from: string
  readonly to: string
}

/** Builds the graph of the given facts. */
export const graphOf = (facts: readonly Fact[]): FactGraph => new FactGraph(facts)
