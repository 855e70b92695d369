import { memoryFetch } from '#actors/capability/memory-service.ts'

const { name, description, parameters } = memoryFetch

/** Reads one memory of an index whole. The caller runs it, by `memory.get`. */
export const memoryFetchTool = { type: 'function', function: { name, description, parameters } } as const
