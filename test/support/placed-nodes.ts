import { systemClock } from '#runtime/clock.ts'
import { drawnFor } from '#runtime/cluster/draw.ts'
import { PeerGone } from '#runtime/messages/peers.ts'
import { PlacedWork } from '#runtime/messages/placed-work.ts'
import { isObject } from '#runtime/schema.ts'

/** Processes of a test that share work as nodes of a cluster do. What they send each other passes as JSON. */
export class PlacedNodes {
  readonly #nodes = new Map<string, PlacedWork>()
  /** Number of requests from one process to another. */
  forwarded = 0

  /** Adds a process. */
  join(): PlacedWork {
    const name = `node-${this.#nodes.size + 1}`
    const placed = new PlacedWork(systemClock)
    this.#nodes.set(name, placed)
    placed.places = (key) => {
      const nodes = [...this.#nodes.keys()].map((node) => ({ node }))
      return drawnFor(key, nodes).map(({ node }) => ({
        process: node,
        request: node === name ? null : async (request) => this.#answer(node, JSON.stringify(request)),
      }))
    }
    return placed
  }

  async #answer(node: string, sent: string) {
    this.forwarded++
    const said = await this.#nodes.get(node)?.answer(JSON.parse(sent))
    if (said === undefined) throw new PeerGone('it has ended')
    const answer: unknown = JSON.parse(JSON.stringify(said))
    return { kind: 'said', said: isObject(answer) ? answer : null } as const
  }
}
