import type { EnvelopeName, Operation } from '#specs/dsl/declare.ts'
import type { HttpRequest } from '../http/http-port.ts'
import { sdkOf } from './sdk-callers.ts'

interface Node {
  readonly words: Map<string, Node>
  parameter: Node | null
  /** Number of paths of operations at or below this one, by envelope. */
  readonly envelopes: Map<EnvelopeName, number>
}

const emptyNode = (): Node => ({ words: new Map(), parameter: null, envelopes: new Map() })

/**
 * The error envelope of paths that are no operation: that of most operations near it, so that `/v1/messages/batches` is
 * answered as Anthropic would, and `/v1/none` with the platform's envelope.
 */
export class PathFamilies {
  readonly #root = emptyNode()

  constructor(operations: Iterable<Pick<Operation, 'paths' | 'envelope'>>) {
    for (const { paths, envelope } of operations) for (const path of paths) this.#add(path, envelope)
  }

  /** The SDK that sends a request takes precedence over the path: it can read no other envelope. */
  envelopeFor(request: Pick<HttpRequest, 'header' | 'path'>): EnvelopeName {
    return sdkOf(request) ?? this.#nearest(request.path)
  }

  #add(path: string, envelope: EnvelopeName): void {
    let node = this.#root
    for (const segment of path.split('/').slice(1)) {
      if (segment.startsWith('{')) {
        node.parameter ??= emptyNode()
        node = node.parameter
      } else {
        const next = node.words.get(segment) ?? emptyNode()
        node.words.set(segment, next)
        node = next
      }
      node.envelopes.set(envelope, (node.envelopes.get(envelope) ?? 0) + 1)
    }
  }

  #nearest(path: string): EnvelopeName {
    let node = this.#root
    for (const segment of path.split('/').slice(1)) {
      const next = node.words.get(segment) ?? node.parameter
      if (next === null) break
      node = next
    }
    const [first] = [...node.envelopes].sort(([, a], [, b]) => b - a)
    return first?.[0] ?? 'platform'
  }
}
