import { type ChangesParts, IndexChanges } from '#actors/indexing/index-changes.ts'
import type { IndexPlace, StoredIndex } from '#actors/indexing/stored-index.ts'
import { PageIndex, PageSegment, PageSegmentWriter } from '#retrieval/index.ts'
import { webCorpora } from '../kinds.ts'
import { findableRow } from './findable-row.ts'
import type { WebPageRow } from './page-store.ts'

/** The index of a project's pages. */
export const pagesPlace = (project: string): IndexPlace => ({
  ...{ project, tenant: null, id: `wco_${project.slice(project.indexOf('_') + 1)}` },
})

interface PageChangesParts extends ChangesParts {
  /** Yields every page of a project. */
  readonly all: (project: string) => AsyncIterable<WebPageRow>
}

const pageIndex = ({ all }: PageChangesParts): StoredIndex<WebPageRow, PageIndex, PageSegment> => ({
  states: webCorpora,
  blobs: () => '',
  writer: () => {
    const pages = new PageSegmentWriter()
    return {
      written: pages.written,
      add: (row, others) => pages.add(findableRow(row), others),
      copy: (segment, isKept) => pages.copy(segment, isKept),
      finished: () => pages.finished(),
    }
  },
  segment: (bytes) => new PageSegment(bytes),
  open: () => new PageIndex(),
  all: ({ project }) => all(project),
})

/** What changes of the pages of projects, for their indexes. */
export const pageChanges = (parts: PageChangesParts) => new IndexChanges(pageIndex(parts), parts)
