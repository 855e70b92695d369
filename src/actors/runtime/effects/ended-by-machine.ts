/**
 * Reason of the abort of an effect whose machine ended it. All other aborts leave the effect to a later run, which goes
 * on with what it began elsewhere.
 */
export const endedByMachine = new DOMException('The machine ended the effect.', 'AbortError')
