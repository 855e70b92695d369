/** Offset of the server's clock in ms, from the `date` header of its answers. Ages and countdowns use the server's time, since a browser's clock may be minutes off. */
let aheadMs = 0

/** @param {string | null} date value of the header `date` */
export const noteServerDate = (date) => {
  const at = Date.parse(date ?? '')
  // the header has whole seconds
  if (Number.isFinite(at) && Math.abs(at - Date.now()) > 2000) aheadMs = at - Date.now()
  else if (Number.isFinite(at)) aheadMs = 0
}

/** The current time by the server's clock. */
export const serverNow = () => new Date(Date.now() + aheadMs)
