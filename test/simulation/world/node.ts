import { pino } from 'pino'
import type { MachineDefinition } from '#machines/definition.ts'
import { IdempotentRequests } from '#records/idempotent.ts'
import type { ClusterParts } from '#runtime/cluster/cluster-node.ts'
import type { LeaseStore } from '#storage/cluster-ports.ts'
import { openWorld, type World, type WorldOptions } from '#test/actors/sessions/harness.ts'
import type { Defect } from '../defects.ts'
import type { Network } from './network.ts'
import type { OutsideWorld } from './outside-world.ts'
import { SimProcess } from './sim-process.ts'
import { SimStorage, type SimStorageParts } from './sim-storage.ts'

/** A server that accepts requests: the real use-cases on the real host. */
export interface Server extends World {
  readonly idempotent: IdempotentRequests
}

/** One process and its server, once that has started. */
export interface Node {
  readonly process: SimProcess
  server: Server | undefined
}

/** What all nodes of a simulation share. */
export interface NodeParts extends Omit<SimStorageParts, 'process'> {
  readonly seed: number
  readonly outside: OutsideWorld
  readonly defect: Defect | null
  /** What connects the processes of a cluster; null if each runs alone. */
  readonly network: Network | null
  /** Further options of every process. */
  readonly world: Pick<WorldOptions, 'agents' | 'concurrency' | 'notifiesWebhooks' | 'mergesAfterMs' | 'streamCommitMs'>
}

const log = pino({ level: 'silent' })
/** No operation of the simulation shows a secret. */
const box = { seal: (text: string) => text, open: (text: string) => text }

/** Starts a process on the shared store. It accepts requests once `server` is set; if it cannot start, it dies. */
export const startNode = (name: string, parts: NodeParts, definitions?: readonly MachineDefinition[]): Node => {
  const { scheduler, random, outside, note, defect, network } = parts
  const { skewMs } = parts.faults()
  const process = new SimProcess(name, scheduler, random, random.between(-skewMs, skewMs))
  const node: Node = { process, server: undefined }
  const sound = new SimStorage({ ...parts, process }).storage
  const storage = defect?.storage?.(sound, { process, parts }) ?? sound
  const { clock } = process
  note(`${name} starts`)
  openWorld({
    ...parts.world,
    ...(definitions && { definitions }),
    storage,
    clock,
    model: outside.modelFor(process),
    runTool: (call) => outside.runTool(process, call),
    ...(network !== null && storage.leases !== null && { cluster: joined(network, storage.leases, process) }),
  }).then(
    (world) => {
      defect?.host?.(world.host, { process, parts })
      node.server = { ...world, idempotent: new IdempotentRequests({ records: storage.records, box, clock, log }) }
      note(`${name} takes requests as epoch ${world.host.epoch}`)
    },
    (error: unknown) => {
      note(`${name} does not start: ${String(error)}`)
      process.crash()
    },
  )
  return node
}

const joined = (network: Network, leases: LeaseStore, process: SimProcess): ClusterParts => {
  const address = `${process.name}:1`
  return {
    leases,
    presence: network.presenceFor(process),
    fanOut: network.fanOutFor(process),
    peers: network.peersFor(process),
    self: { node: process.name, address },
    serve: (service) => network.serve(address, process, service),
  }
}
