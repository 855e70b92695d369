import type { Bound } from './bounds.ts'

/** Bounds of pages of the web and of browsers (specs/decisions/0096-nothing-grows-without-bound.md). */
export const webBounds: readonly Bound[] = [
  {
    of: 'a page of the web, unpacked',
    most: '`maxBytes`, 5 MiB at most',
    beyond: '422 `response_too_large`; the connection is closed there',
    code: ['specs/resources/web/web-limits.ts', 'maxPageBytes'],
    test: ['test/actors/web/fetch/page-fetcher.test.ts', 'as a bomb of %s takes neither memory nor time'],
  },
  {
    of: 'a robots.txt',
    most: '500 KiB, 10,000 rules a group',
    beyond: 'the rest of the file is not read',
    code: ['src/pages/robots.ts', 'maxRobotsBytes'],
    test: ['test/actors/web/fetch/page-fetcher.test.ts', 'reads the first 500 KiB of a file'],
  },
  {
    of: 'sites whose robots.txt is kept',
    most: '1,000',
    beyond: 'the oldest is dropped, and read again',
    code: ['src/actors/web/fetch/robots-files.ts', 'maxSites'],
    test: ['test/actors/web/fetch/robots-files.test.ts', 'are those of 1,000 sites: the oldest is read again'],
  },
  {
    of: 'the tree of a web page',
    most: '100 levels, 20,000 elements, 16 attributes an element, 3 M characters',
    beyond: 'the rest is left out, and `metadata.leftOut` names it',
    code: ['src/parsing/pages/clean-html.ts', 'pageLimits'],
    test: ['test/parsing/pages/page-rooms.test.ts', 'of %s ends within its time and a second'],
  },
  {
    of: 'workers that read web pages',
    most: '4, with 64 pages waiting for each',
    beyond: '502 `fetch_failed`; a page that takes its whole time ends with its worker',
    code: ['src/parsing/pages/page-rooms.ts', 'maxRooms'],
    test: ['test/parsing/pages/page-rooms.test.ts', 'keeps no other page waiting'],
  },
  {
    of: 'browser jobs of a project that wait or run',
    most: '100',
    beyond: '429 `browser_queue_full`',
    code: ['specs/resources/web/browse-limits.ts', 'maxOpenJobs'],
    test: ['test/actors/browser/jobs/job-use-cases.test.ts', 'takes 100 open jobs of a project, and no more'],
  },
  {
    of: 'browsers of a process at a time',
    most: 'BROWSER_JOBS, one a processor by default',
    beyond: 'jobs wait, and none of one tenant takes all places',
    code: ['src/actors/browser/jobs/browser-pool.ts', '#admit'],
    test: ['test/actors/browser/jobs/browser-pool.test.ts', 'has so many at a time, and no more'],
  },
  {
    of: 'memory of the browser of a job',
    most: 'BROWSER_JOB_MEMORY_MB, 1,024 by default',
    beyond: 'the browser is ended, the job fails with `browser_out_of_memory`',
    code: ['src/actors/browser/engine/browser-process.ts', 'maxMemoryBytes'],
    test: ['test/e2e/browser/visits.e2e.test.ts', 'ends a browser that takes more memory than it may'],
  },
  {
    of: 'what the browser of a job loads',
    most: '200 MiB, 256 connections at a time',
    beyond: 'its connections are closed, the job fails with `response_too_large`',
    code: ['src/outgoing/guarded-proxy.ts', 'maxBytes'],
    test: ['test/outgoing/guarded-proxy.test.ts', 'closes every connection beyond the bytes that may come in'],
  },
  {
    of: 'the text of a page in a result',
    most: '500,000 characters, 500 links, 200 passages',
    beyond: 'the rest is left out',
    code: ['src/actors/browser/engine/read-page.ts', 'maxContentLength'],
    test: ['test/e2e/browser/visits.e2e.test.ts', 'reads the first 500,000 characters of a page'],
  },
  {
    of: 'browser jobs that have ended',
    most: '7 days',
    beyond: 'removed with their pictures',
    code: ['src/machines/browser-job/browser-job.ts', 'jobRetentionMs'],
    test: ['test/actors/browser/jobs/job-use-cases.test.ts', 'forgets a job 7 days after it has ended'],
  },
  {
    of: 'a profile of a browser',
    most: '256 KiB; 100 a tenant',
    beyond: 'not kept',
    code: ['src/actors/browser/profiles/browser-profiles.ts', 'maxProfileBytes'],
    test: [
      'test/actors/browser/profiles/browser-profiles.test.ts',
      'keeps no profile that is too large, nor one too many',
    ],
  },
  {
    of: 'a crawl of the web within a request',
    most: '20 seeds, 25 pages, 3 links deep, 5,000 addresses that wait, 55 s',
    beyond: 'pages are not read, or skipped as `out_of_time`',
    code: ['src/actors/web/crawl/crawl-site.ts', 'maxKnown'],
    test: [
      'test/actors/web/crawl/crawl-site.test.ts',
      'keeps 5,000 addresses at most, and reads no more pages than it may',
    ],
  },
  {
    of: 'addresses of a sitemap',
    most: '2,000',
    beyond: 'the rest is not read',
    code: ['src/pages/sitemap.ts', 'maxSitemapUrls'],
    test: ['test/pages/freshness.test.ts', 'names pages, or other sitemaps'],
  },
]
