/** A tool run by the caller, for trying an approval. */
export const exampleTool = {
  type: 'function',
  needsApproval: true,
  function: {
    name: 'refund',
    description: 'Pays an order back.',
    parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  },
}
