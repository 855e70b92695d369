/** A tool that the caller runs, to try an approval with. */
export const exampleTool = {
  type: 'function',
  needsApproval: true,
  function: {
    name: 'refund',
    description: 'Pays an order back.',
    parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  },
}
