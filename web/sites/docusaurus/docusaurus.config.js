export default {
  title: 'Example docs',
  url: 'https://docs.example',
  baseUrl: '/',
  onBrokenLinks: 'throw',
  // HTML in .md files is HTML, braces included; in .mdx it would be JSX.
  markdown: {format: 'detect'},
  scripts: [{src: '/podfate/embed.js', type: 'module'}],
  presets: [['classic', {docs: {routeBasePath: '/'}, blog: false, pages: false}]],
};
