import type { Json } from '#storage/index.ts'
import type { Finding } from '../scan.ts'
import type { SchemaFault } from './checks-in-worker.ts'

/** Casts a response of the worker. It is trusted and not validated. */
export const faultsFrom = (value: Json): readonly SchemaFault[] => value as unknown as readonly SchemaFault[]

/** Casts a response of the worker. It is trusted and not validated. */
export const findingsFrom = (value: Json): readonly Finding[] => value as unknown as readonly Finding[]
