/**
 * The server's clock: ages and countdowns go by it, since a browser's own may be minutes off. Each answer of the
 * server says its time.
 */
let aheadMs = 0

/** @param {string | null} date of the header `date` */
export const noteServerDate = (date) => {
  const at = Date.parse(date ?? '')
  // the header has whole seconds
  if (Number.isFinite(at) && Math.abs(at - Date.now()) > 2000) aheadMs = at - Date.now()
  else if (Number.isFinite(at)) aheadMs = 0
}

/** Now, by the server's clock. */
export const serverNow = () => new Date(Date.now() + aheadMs)
