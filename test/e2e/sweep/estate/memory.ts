import type { EstatePart } from './estate-part.ts'

/** The estate of memory. */
export const memory: EstatePart = {
  make: async ({ mark, made }) => ({
    memory_id: await made('/v1/memory/write', { userId: 'ada', content: mark }),
  }),
  beyondSchema: { 'memory.export': 'a cursor is one that the list gave' },
}
