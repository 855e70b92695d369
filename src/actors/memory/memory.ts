import { memory as operations } from '#specs/resources/memory.ts'
import { authPort } from '../accounts/accounts.ts'
import { capability } from '../capability/capability.ts'
import { memoryKinds } from './kinds.ts'
import { settingsOf } from './memory-settings.ts'
import { memoryUseCases } from './memory-use-cases.ts'
import { openMemory } from './open-memory.ts'
import { upkeepUseCases } from './upkeep-use-cases.ts'

/** What is remembered of end users. */
export const memory = capability({
  name: 'memory',
  operations,
  kinds: memoryKinds,
  open: (house) => {
    authPort.of(house)
    const opened = openMemory({
      ...house,
      shared: house.cluster !== undefined,
      embedderOf: async () => null,
      settings: async () => settingsOf(),
      upgradeUrl: '/',
    })
    return { useCases: { ...memoryUseCases(opened), ...upkeepUseCases(opened) }, close: opened.close }
  },
})
