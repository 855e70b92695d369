/** The result of a lookup: one target per method, and the values of the path's parameters in order. */
export interface Match<T> {
  readonly methods: ReadonlyMap<string, T>
  readonly params: readonly string[]
}

interface Node<T> {
  readonly words: Map<string, Node<T>>
  parameter: Node<T> | null
  /** Parameters that a text follows in the same segment, by that text: `{model}:generateContent`. */
  readonly suffixed: Map<string, Node<T>>
  /** Methods of a route whose last parameter matches the rest of a path, slashes included, by the text that follows. */
  readonly rest: Map<string, Map<string, T>>
  methods: Map<string, T> | null
}

const emptyNode = <T>(): Node<T> => ({
  words: new Map(),
  parameter: null,
  suffixed: new Map(),
  rest: new Map(),
  methods: null,
})

const noParams: readonly string[] = []

/**
 * Maps paths to targets. A path without parameters takes one lookup; others are matched along a tree of segments,
 * literal segments before parameters.
 */
export class Router<T> {
  readonly #plain = new Map<string, Match<T>>()
  readonly #root = emptyNode<T>()

  /**
   * Adds a path template such as `/v1/x/{x_id}`.
   *
   * @param slashesInLast the last parameter matches the rest of a path that no other route matches.
   * @throws when the path already has this method.
   */
  add(
    method: string,
    path: string,
    { target, slashesInLast = false }: { readonly target: T; readonly slashesInLast?: boolean | undefined },
  ): void {
    const methods = this.#methodsOf(path)
    if (methods.has(method)) throw new Error(`${method} ${path} is declared twice`)
    methods.set(method, target)
    if (!slashesInLast) return
    const last = path.lastIndexOf('/')
    this.#nodeOf(path.slice(0, last)).rest.set(suffixOf(path.slice(last + 1)), methods)
  }

  /** @param path percent-encoded. @returns null for an unknown path, also for one that is wrongly encoded. */
  find(path: string): Match<T> | null {
    return this.#plain.get(path) ?? this.#walk(path)
  }

  #methodsOf(path: string): Map<string, T> {
    const node = this.#nodeOf(path)
    node.methods ??= new Map()
    if (!path.includes('{')) this.#plain.set(path, { methods: node.methods, params: noParams })
    return node.methods
  }

  #nodeOf(path: string): Node<T> {
    let node = this.#root
    for (const segment of path.split('/').slice(1)) node = childFor(node, segment)
    return node
  }

  #walk(path: string): Match<T> | null {
    if (!path.startsWith('/')) return null
    const params: string[] = []
    const methods = descend(this.#root, path.split('/'), { at: 1, params })
    if (methods === null) return null
    return path.includes('%') ? decoded(methods, params) : { methods, params }
  }
}

/** The text after the parameter of a segment: `:generateContent` of `{model}:generateContent`. */
const suffixOf = (segment: string): string => segment.slice(segment.indexOf('}') + 1)

const childFor = <T>(node: Node<T>, segment: string): Node<T> => {
  const suffix = suffixOf(segment)
  if (segment.startsWith('{') && suffix === '') {
    node.parameter ??= emptyNode()
    return node.parameter
  }
  const [nodes, key] = segment.startsWith('{') ? [node.suffixed, suffix] : [node.words, segment]
  const known = nodes.get(key) ?? emptyNode<T>()
  nodes.set(key, known)
  return known
}

/**
 * Matches segments, backtracking to the parameter when a literal segment leads nowhere: `/x/oauth/callback` does not
 * hide `/x/{x_id}/test`.
 */
const descend = <T>(
  node: Node<T>,
  segments: readonly string[],
  { at, params }: { readonly at: number; readonly params: string[] },
): ReadonlyMap<string, T> | null => {
  const segment = segments[at]
  if (segment === undefined) return node.methods
  const word = node.words.get(segment)
  const found = word && descend(word, segments, { at: at + 1, params })
  if (found) return found
  if (segment === '') return null
  const taken = params.length
  for (const [suffix, child] of node.suffixed) {
    const value = withoutSuffix(segment, suffix)
    if (value === null) continue
    params.push(value)
    const below = descend(child, segments, { at: at + 1, params })
    if (below) return below
    params.length = taken
  }
  params.push(segment)
  const below = node.parameter && descend(node.parameter, segments, { at: at + 1, params })
  if (below) return below
  params.length = taken
  return restOf(node, segments.slice(at).join('/'), params)
}

/** Matches the rest of a path, a parameter with a text after it before the one without. */
const restOf = <T>(node: Node<T>, rest: string, params: string[]): ReadonlyMap<string, T> | null => {
  if (rest.endsWith('/')) return null
  for (const [suffix, methods] of node.rest) {
    const value = suffix === '' ? null : withoutSuffix(rest, suffix)
    if (value === null) continue
    params.push(value)
    return methods
  }
  const methods = node.rest.get('') ?? null
  if (methods !== null) params.push(rest)
  return methods
}

/** @returns null if the text does not end with the suffix, or is nothing but it. */
const withoutSuffix = (text: string, suffix: string): string | null =>
  text.length > suffix.length && text.endsWith(suffix) ? text.slice(0, -suffix.length) : null

const decoded = <T>(methods: ReadonlyMap<string, T>, params: readonly string[]): Match<T> | null => {
  try {
    return { methods, params: params.map(decodeURIComponent) }
  } catch {
    return null
  }
}
