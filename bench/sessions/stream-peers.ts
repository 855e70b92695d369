import type { Service } from '#scripts/services/service.ts'
import { median, type Row } from '../row.ts'
import { outcomeOf } from '../sessions.ts'
import { startLangGraph } from './peers/langgraph.ts'
import { startRestate } from './peers/restate.ts'
import type { Arm, Cost } from './stream-cost.ts'

/** A server of others. */
export interface Peer {
  readonly name: string
  readonly arm: Arm
}

/** Starts a peer, and its processes with it: the first one answers. */
type Opener = (model: Service, atOnce: number) => Promise<readonly [Service, ...Service[]]>

const openers: Readonly<Record<'langgraph' | 'restate', { readonly name: string; readonly open: Opener }>> = {
  langgraph: { name: 'LangGraph', open: async ({ url }, atOnce) => [await startLangGraph(url, atOnce)] },
  restate: { name: 'Restate', open: ({ port }) => startRestate(port) },
}

/**
 * Starts servers of others that answer by the same model, and streams one answer of each. One that cannot be installed
 * or started, or does not answer, is left out, with its reason on standard error.
 *
 * @param keep is given each process to stop at the end
 */
export async function startPeers(
  apis: readonly (keyof typeof openers)[],
  { model, atOnce }: { readonly model: Service; readonly atOnce: number },
  keep: (service: Service) => void,
): Promise<readonly Peer[]> {
  const peers: Peer[] = []
  for (const api of apis) {
    const { name, open } = openers[api]
    try {
      const [first, ...behind] = await open(model, atOnce)
      for (const service of [...behind, first]) keep(service)
      await outcomeOf({ url: first.url, key: '', stream: 1, api })
      peers.push({ name, arm: { api, nodes: [first], behind, key: '' } })
    } catch (error) {
      console.error(`${name} is left out: ${error}`)
    }
  }
  return peers
}

/** Rows of a session's turns against those of a peer. */
export function rowsBeside(name: string, ours: readonly Cost[], peer: readonly Cost[], where: string): readonly Row[] {
  if (peer.length === 0) return []
  const row = (what: string, unit: string, value: (cost: Cost) => number): Row => ({
    ...{ measure: `${what}, ${where}`, unit, ours: median(ours.map(value)) },
    against: { name, value: median(peer.map(value)) },
  })
  return [
    row('CPU a turn', 'ms', ({ cpuMs }) => cpuMs),
    row('first delta p50', 'ms', ({ outcome }) => outcome.firstP50),
    row('delta late p50', 'ms', ({ outcome }) => outcome.lateP50),
    row('delta late p99', 'ms', ({ outcome }) => outcome.lateP99),
  ]
}
