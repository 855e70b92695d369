import type { Host } from '../../src/actors/runtime/host.ts'
import type { Storage } from '../../src/storage/ports.ts'
import type { NodeParts } from './node.ts'
import type { SimProcess } from './sim-process.ts'

/** Where a defect is planted. */
export interface Planted {
  readonly process: SimProcess
  readonly parts: NodeParts
}

/** A mistake that the simulation has to find, put around the real parts. */
export interface Defect {
  readonly storage?: (storage: Storage, planted: Planted) => Storage
  readonly host?: (host: Host, planted: Planted) => void
}
