/** What a pull is compared with: a bare loop that fetches the same pages one after the other, and discards them. */

const [url = '', pages = ''] = process.argv.slice(2)

for (let page = 1; page <= Number(pages); page++) {
  const response = await fetch(`${url}?page=${page}`)
  if (response.status !== 200) throw new Error(`Page ${page} was answered with ${response.status}.`)
  for await (const _chunk of response.body ?? []);
}
