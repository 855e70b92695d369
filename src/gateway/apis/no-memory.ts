import { usesMemory } from '#specs/memory-field.ts'

type Headers = readonly (readonly [name: string, value: string])[]

/** The memory block of an answer for which nothing was found, and nothing is kept. */
export const noMemory = { retrieved: [], written: [], write_status: 'skipped', write_request_id: null } as const

/** Headers of an answer to a request that names memory. */
export const memoryHeaders = (memory: unknown): Headers =>
  usesMemory(memory) ? [['x-service-memory-retrieved', '0']] : []
