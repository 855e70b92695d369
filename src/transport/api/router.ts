/** The result of a lookup: one target per method, and the values of the path's parameters in order. */
export interface Match<T> {
  readonly methods: ReadonlyMap<string, T>
  readonly params: readonly string[]
}

interface Node<T> {
  readonly words: Map<string, Node<T>>
  parameter: Node<T> | null
  /** Methods of a route whose last parameter matches the rest of a path, slashes included. */
  rest: Map<string, T> | null
  methods: Map<string, T> | null
}

const emptyNode = <T>(): Node<T> => ({ words: new Map(), parameter: null, rest: null, methods: null })

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
    if (slashesInLast) this.#nodeOf(path.slice(0, path.lastIndexOf('/'))).rest = methods
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

const childFor = <T>(node: Node<T>, segment: string): Node<T> => {
  if (segment.startsWith('{')) {
    node.parameter ??= emptyNode()
    return node.parameter
  }
  const known = node.words.get(segment) ?? emptyNode<T>()
  node.words.set(segment, known)
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
  params.push(segment)
  const below = node.parameter && descend(node.parameter, segments, { at: at + 1, params })
  if (below) return below
  params.length = taken
  if (node.rest === null || segments.at(-1) === '') return null
  params.push(segments.slice(at).join('/'))
  return node.rest
}

const decoded = <T>(methods: ReadonlyMap<string, T>, params: readonly string[]): Match<T> | null => {
  try {
    return { methods, params: params.map(decodeURIComponent) }
  } catch {
    return null
  }
}
