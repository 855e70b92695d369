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
    <script type="module" src="/docs/search.js"></script>
  </head>
  <body>
    <a class="skip" href="#view">Skip to content</a>
    <header class="top">
      <a class="brand" href="/docs"><img src="/icon.svg" alt="" width="18" height="18" />Troupe documentation</a>
      <form class="find" role="search" action="/docs">
        <input type="search" name="q" id="find" aria-label="Search the documentation" autocomplete="off" placeholder="Search  /" maxlength="200" />
      </form>
    </header>
    <section class="found" id="found" aria-label="Search results" hidden></section>
    <div class="pages">
      <details class="contents" open>
        <summary>Contents</summary>
        <nav aria-label="Documentation">${['Guides', 'Reference'].map((part) => listOf(part, page, all)).join('')}</nav>
      </details>
      <main id="view" tabindex="-1">${page.html}</main>
    </div>
  </body>
</html>
`

const listOf = (part: string, page: Place, all: readonly Place[]): string => {
  const items = all
    .filter((each) => each.part === part)
    .map(({ path, title }) => {
      const isHere = path === page.path ? ' aria-current="page"' : ''
      return `<li><a href="${escaped(path)}"${isHere}>${escaped(title)}</a></li>`
    })
  return `<p class="muted">${part}</p><ul>${items.join('')}</ul>`
}
