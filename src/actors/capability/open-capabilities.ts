import type { AnyUseCases } from '../call/use-cases.ts'
import type { EffectCatalog } from '../runtime/index.ts'
import type { Sinks } from '../runtime/internal.ts'
import type { AnyCapability } from './capability.ts'
import type { Services } from './services.ts'

/** The opened capabilities of a process. */
export interface OpenCapabilities {
  readonly services: Services
  readonly useCases: AnyUseCases
  readonly effects: EffectCatalog
  readonly sinks: Sinks
  /** Closes the capabilities in reverse order. */
  close(): Promise<void>
}

/** Opens capabilities in order. @throws {Error} when two claim the same operation, effect or sink. */
export const openCapabilities = (list: readonly AnyCapability[], services: Services): OpenCapabilities => {
  const opened = list.map((each) => each.open(services))
  return {
    services,
    useCases: merged(opened.map(({ useCases }) => useCases)),
    effects: merged(opened.map(({ effects = {} }) => effects)),
    sinks: merged(opened.map(({ sinks = {} }) => sinks)),
    close: async () => {
      for (const { close } of opened.toReversed()) await close?.()
    },
  }
}

const merged = <T>(parts: readonly Readonly<Record<string, T>>[]): Readonly<Record<string, T>> => {
  const entries = parts.flatMap((part) => Object.entries(part))
  const twice = entries.find(([name], index) => entries.findIndex(([other]) => other === name) !== index)
  if (twice !== undefined) throw new Error(`two capabilities have ${twice[0]}`)
  return Object.fromEntries(entries)
}
