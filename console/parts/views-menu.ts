import { callApi } from '../api.ts'
import { html, typed, useEffect, useState } from '../html.ts'
import { readViews, type SavedView, viewHash } from '../views.ts'
import { ActButton } from './act-button.ts'
import { isFree } from './keys.ts'
import type { ListPlace } from './list-view.ts'
import { useRead } from './use-read.ts'

/**
 * The member's saved views of a list: opened, saved, renamed, deleted, and the one with which the page opens. The key
 * `v` opens the menu.
 *
 * @param props `viewed`: what a view keeps of the address; `all`: the hash without it
 */
export const ViewsMenu = (props: { place: ListPlace; viewed: Query; all: string }) => {
  const { place, viewed, all } = props
  const { project, page, query } = place
  const { data, again } = useRead(`${project} ${page}`, () => readViews(project))
  const views = (data ?? []).filter((view) => view.page === page)
  const current = views.find(({ id }) => id === query.view)
  const [name, setName] = useState('')
  useEffect(() => {
    const opens = views.find(({ is_default }) => is_default)
    const isPlain = Object.keys(viewed).length === 0 && !['view', 'after', 'open', 'new'].some((name) => query[name])
    if (opens !== undefined && isPlain) location.replace(viewHash(project, opens))
  }, [data])
  const { columns = '', sort = '', ...filters } = viewed
  const shown = { filters, columns: columns.split(',').filter(Boolean), order: sort === '' ? null : sort }
  const done = async (call: Promise<unknown>) => {
    await call
    setName('')
    again()
  }
  const create = () =>
    callApi(project, 'saved_views.create', { body: { name: name.trim(), page, ...shown } }).then((view) => {
      location.hash = viewHash(project, view)
    })
  const update = (view: SavedView, body: object) =>
    callApi(project, 'saved_views.update', { params: { view_id: view.id }, body })
  const openWith = async (view: SavedView) => {
    // one of them at most
    for (const other of views.filter(({ is_default, id }) => is_default && id !== view.id))
      await update(other, { is_default: false })
    await update(view, { is_default: !view.is_default })
  }
  return html`<details class="menu views"><summary class="button quiet">${current?.name ?? 'Views'}</summary><div class="menu-box">
    ${views.length === 0 ? html`<p class="muted">A view keeps filters, columns and order under a name. Only you see yours.</p>` : html`<ul aria-label="Saved views"><li><a href=${all}>All rows</a></li>${views.map((view) => html`<li key=${view.id}><a href=${viewHash(project, view)} aria-current=${view.id === query.view ? 'true' : undefined}>${view.name}</a>${view.is_default && html` <span class="muted">opens first</span>`}</li>`)}</ul>`}
    <form onSubmit=${(event: Event) => event.preventDefault()} aria-label="View">
      <label>Name<input type="text" maxlength="80" value=${name} placeholder=${current?.name ?? ''} onInput=${typed(setName)} /></label>
      <${ActButton} main label="Save as new" disabled=${name.trim() === ''} act=${() => done(create())} />
      ${
        current !== undefined &&
        html`<${ActButton} label="Rename" disabled=${name.trim() === ''} act=${() => done(update(current, { name: name.trim() }))} />
        <${ActButton} label="Update" act=${() => done(update(current, shown))} />
        ${viewed.user === undefined && html`<${ActButton} label=${current.is_default ? 'Open without' : 'Open with it'} act=${() => done(openWith(current))} />`}
        <${ActButton} label="Copy link" act=${() => navigator.clipboard.writeText(new URL(viewHash(project, current), location.href).href)} />
        <${ActButton} label="Delete" sure=${`Delete ${current.name}`} act=${() => done(callApi(project, 'saved_views.delete', { params: { view_id: current.id } }))} />`
      }
    </form>
  </div></details>`
}

/** Opens the menu of the page by its key; Escape closes it. */
const press = (event: KeyboardEvent) => {
  const menu = document.querySelector('details.views')
  if (!(menu instanceof HTMLDetailsElement)) return
  if (event.key === 'Escape') menu.open = false
  if (event.key !== 'v' || !isFree(event)) return
  menu.open = !menu.open
  menu.querySelector('summary')?.focus()
}

// not an effect, which would run some frames after the page is shown: a key that was pressed before it would be lost
addEventListener('keydown', press)
