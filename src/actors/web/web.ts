import { webExtract } from '#specs/resources/web/web-extract.ts'
import { webFetch } from '#specs/resources/web/web-fetch.ts'
import { PageRooms } from '#src/parsing/pages/page-rooms.ts'
import { capability } from '../capability/capability.ts'
import { extractUseCase } from './extract/extract-use-case.ts'
import { PageReader } from './extract/page-reader.ts'
import { fetchUseCase } from './fetch/fetch-use-case.ts'
import { PageFetcher } from './fetch/page-fetcher.ts'

/** Pages of the public web: fetched under guard, and what they say. */
export const web = capability({
  name: 'web',
  operations: { ...webFetch, ...webExtract },
  kinds: [],
  open: (house) => {
    const pages = new PageFetcher(house.guard.content, house.now)
    const rooms = new PageRooms()
    const reader = new PageReader({ pages, rooms, steady: house.clock.steady })
    return {
      useCases: { 'web.fetch': fetchUseCase(pages), 'web.extract': extractUseCase(reader) },
      close: () => rooms.close(),
    }
  },
})
