import { memoryFetch } from '#actors/capability/memory-service.ts'

const { name, description, parameters } = memoryFetch

/** Tool that fetches one memory of an index in full. The caller executes it, with `memory.get`. */
export const memoryFetchTool = { type: 'function', function: { name, description, parameters } } as const
