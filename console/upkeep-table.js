import { chip } from './actor-facts.js'
import { cell, h } from './dom.js'
import { time } from './format.js'

/**
 * @typedef {object} UpkeepTask
 * @property {string} id
 * @property {boolean} paused
 * @property {string | null} paused_by
 * @property {string | null} paused_at
 * @property {number} waiting
 * @property {string | null} oldest_at
 * @property {number} merged
 * @property {number} removed
 */

const columns = ['Task', 'Status', 'Waiting', 'Oldest', 'Merged here', 'Removed here']

/** Head of the housekeeping table. */
export const upkeepHead = () => h('thead', {}, h('tr', {}, ...columns.map((name) => h('th', { scope: 'col' }, name))))

/** One housekeeping task, and since when and by whom it is paused. @param {UpkeepTask} task */
export const upkeepRow = ({ id, paused, paused_by, paused_at, waiting, oldest_at, merged, removed }) =>
  h(
    'tr',
    {},
    h('th', { scope: 'row' }, id),
    h(
      'td',
      { 'data-name': 'Status' },
      chip(paused ? 'paused' : 'running'),
      paused ? h('span', { class: 'muted' }, ` since ${time(paused_at ?? '')} by ${paused_by ?? 'unknown'}`) : null,
    ),
    cell('Waiting', String(waiting)),
    cell('Oldest', oldest_at === null ? '–' : time(oldest_at)),
    cell('Merged here', String(merged)),
    cell('Removed here', String(removed)),
  )
