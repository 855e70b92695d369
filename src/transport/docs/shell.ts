import { escaped } from './markup.ts'

/** A page of the documentation. */
export interface Place {
  readonly path: string
  /** Part of the documentation that lists it. */
  readonly part: string
  readonly title: string
}

/** The whole document of a page. It has no script or style of its own, so that the console's content policy applies. */
export const shell = (page: Place & { readonly html: string }, all: readonly Place[]): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${escaped(page.title)} · Troupe</title>
    <link rel="icon" href="/icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="/base.css" />
    <link rel="stylesheet" href="/docs/docs.css" />
    <link rel="stylesheet" href="/vendor/utilities.css" />
    <script type="module" src="/docs/search.ts"></script>
  </head>
  <body>
    <a class="skip absolute not-focus:-left-999 focus:top-8 focus:left-8 focus:z-1 px-10 py-6 bg-panel" href="#view">Skip to content</a>
    <header class="top">
      <a class="brand" href="/docs"><img src="/icon.svg" alt="" width="18" height="18" />Troupe documentation</a>
      <form class="flex-[1_1_160px] max-w-360" role="search" action="/docs">
        <input class="w-full" type="search" name="q" id="find" aria-label="Search the documentation" autocomplete="off" placeholder="Search  /" maxlength="200" />
      </form>
    </header>
    <section class="found card flex-none w-full max-w-860 max-h-[60vh] mx-auto px-16 py-8 overflow-y-auto" id="found" aria-label="Search results" hidden></section>
    <div class="grid grid-cols-[220px_minmax(0,860px)] max-[801px]:grid-cols-1 gap-24 p-16">
      <details class="toc" open>
        <summary class="py-3">Contents</summary>
        <nav aria-label="Documentation">${['Guides', 'Reference'].map((part) => listOf(part, page, all)).join('')}</nav>
      </details>
      <main id="view" class="text-[14.5px] leading-[1.6] wrap-anywhere" tabindex="-1">${page.html}</main>
    </div>
  </body>
</html>
`

const listOf = (part: string, page: Place, all: readonly Place[]): string => {
  const items = all
    .filter((each) => each.part === part)
    .map(({ path, title }) => {
      const isHere = path === page.path ? ' aria-current="page"' : ''
      return `<li><a class="block py-3 aria-[current]:font-semibold" href="${escaped(path)}"${isHere}>${escaped(title)}</a></li>`
    })
  return `<p class="muted">${part}</p><ul class="mb-12">${items.join('')}</ul>`
}
