import { Port } from '#actors/capability/port.ts'
import type { SearchEngineSettings } from '#specs/search-engines.ts'

/** Third-party search engines that the operator has configured. */
export const foreignEnginesPort = new Port<readonly SearchEngineSettings[]>('search engines of third parties')
