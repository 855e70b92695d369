/** Reads one memory of an index whole. The caller runs it, by `memory.get`. */
export const memoryFetchTool = {
  type: 'function',
  function: {
    name: 'memory_fetch',
    description: 'Reads one memory of the user whole, by an id of the index.',
    parameters: {
      type: 'object',
      properties: { id: { type: 'string', description: 'Id of the memory, such as mem_…' } },
      required: ['id'],
      additionalProperties: false,
    },
  },
} as const
