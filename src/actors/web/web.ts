import { webCrawlDefinition } from '#machines/web-crawl/web-crawl-definition.ts'
import { webCrawl } from '#specs/resources/web/web-crawl.ts'
import { webCrawls } from '#specs/resources/web/web-crawls.ts'
import { webExtract } from '#specs/resources/web/web-extract.ts'
import { webFetch } from '#specs/resources/web/web-fetch.ts'
import { maxCorpusPages, maxSearchLength } from '#specs/resources/web/web-limits.ts'
import { webSearch } from '#specs/resources/web/web-search.ts'
import { webTakedown, webTakedowns } from '#specs/resources/web/web-takedowns.ts'
import { PageParsers } from '#src/parsing/pages/page-parsers.ts'
import { agentResources } from '../capability/agent-resources.ts'
import { capability } from '../capability/capability.ts'
import { pageEmbedderPort } from '../capability/embedder-port.ts'
import { erasedCopiesPort } from '../capability/erased-copies.ts'
import { indexBoundPort } from '../capability/index-bound.ts'
import { pageRenderer } from '../capability/page-renderer.ts'
import { webService } from '../capability/web-service.ts'
import { agentWeb } from './agents/agent-web.ts'
import { crawlEffects } from './crawl/crawl-effects.ts'
import { crawlJobUseCases } from './crawl/crawl-job-use-cases.ts'
import { crawlUseCase } from './crawl/crawl-use-case.ts'
import { HostTurns } from './crawl/host-turns.ts'
import { crawlerPort } from './crawler-settings.ts'
import { foreignEnginesPort } from './engines/foreign-engines.ts'
import { thirdPartySearch } from './engines/third-party-search.ts'
import { extractUseCase } from './extract/extract-use-case.ts'
import { PageReader } from './extract/page-reader.ts'
import { PageRenders } from './extract/page-renders.ts'
import { fetchUseCase } from './fetch/fetch-use-case.ts'
import { PageFetcher } from './fetch/page-fetcher.ts'
import { webCrawlRows, webKinds } from './kinds.ts'
import { corpusServer, corpusService } from './search/corpus-search.ts'
import { PageIndexes } from './search/page-indexes.ts'
import { searchPages } from './search/search-pages.ts'
import { sharedCorpusPort } from './shared-corpus.ts'
import { PageStore } from './store/page-store.ts'
import { takedownUseCases } from './takedowns/takedown-use-cases.ts'

/** Pages of the public web: fetching through the SSRF guard, text extraction, crawls, and a search index of our own. */
export const web = capability({
  name: 'web',
  operations: { ...webFetch, ...webExtract, ...webCrawl, ...webCrawls, ...webSearch, ...webTakedown, ...webTakedowns },
  kinds: webKinds,
  machines: [{ definition: webCrawlDefinition, rows: webCrawlRows }],
  open: (services) => {
    const { clock, now, records } = services
    const crawler = crawlerPort.of(services)
    const fetcher = new PageFetcher({ guard: services.guard.content, clock, contact: crawler.contact })
    const parsers = new PageParsers()
    // the capability of browsers opens later
    const renderer = () => pageRenderer.of(services)
    const renders = new PageRenders({ pages: fetcher, renderer, contact: crawler.contact })
    const reader = new PageReader({ pages: fetcher, parsers, renders })
    const { blobs, search: engine } = services.storage
    const store = new PageStore(records, blobs, {
      now,
      max: maxCorpusPages[engine === undefined ? 'inMemory' : 'inEngine'],
    })
    const indexes = new PageIndexes({ store, clock, log: services.log, engine, bound: indexBoundPort.of(services) })
    erasedCopiesPort.of(services).keptBy((erased) => indexes.dropErased(erased))
    const turns = new HostTurns({ turns: services.turns, robots: fetcher.robots, clock, pace: crawler })
    const embedder = pageEmbedderPort.of(services)
    const { placed } = services.host
    placed.serve(corpusService, corpusServer(indexes))
    const search = { indexes, placed, embedder, shared: sharedCorpusPort.of(services), now, clock }
    const foreign = { engines: foreignEnginesPort.of(services), guard: services.guard, store, now }
    const indexing = {
      reader,
      store,
      embedder,
      indexed: (row: Parameters<PageIndexes['put']>[0]) => indexes.put(row),
      removed: (row: Parameters<PageIndexes['removed']>[0]) => indexes.removed(row),
      changed: (project: string) => indexes.changed(project),
      now,
      turns,
    }
    agentResources.give(services, agentWeb({ ...search, reader }))
    webService.give(services, {
      search: async (project, query, { limit }) =>
        (await searchPages(search, { project, query: query.slice(0, maxSearchLength), limit })).results,
    })
    return {
      useCases: {
        'web.fetch': fetchUseCase(reader),
        'web.extract': extractUseCase(reader),
        'web.crawl': crawlUseCase({ ...indexing, fetcher, clock }),
        'web.search': ({ scope: { project }, body, signal }) =>
          body.engine === undefined
            ? searchPages(search, { ...body, project }, signal)
            : thirdPartySearch(foreign, { ...body, engine: body.engine, project }),
        ...crawlJobUseCases({ host: services.host, records, now }),
        ...takedownUseCases({ records, store, dropped: (project) => indexes.dropped(project), now }),
      },
      effects: crawlEffects({ ...indexing, fetcher, storage: services.storage, clock }),
      close: () => parsers.close(),
    }
  },
})
