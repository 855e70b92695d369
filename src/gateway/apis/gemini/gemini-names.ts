import type { WireObject } from '#outgoing/wire.ts'

/** Names in camel case: Google's API also accepts those of its protocol buffers (`system_instruction`). */
export const camelled = (fields: WireObject): WireObject =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [camel(name), value]))

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
