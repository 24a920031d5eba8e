const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text for HTML, between tags or in a quoted attribute. */
export const htmlText = (content: string): string => content.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)
