// Line icons, 20 by 20.

const icon = (inner: string): string =>
  `<svg viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${inner}</svg>`;

export const ICONS = {
  play: icon('<path d="M6.5 4.2v11.6l9-5.8z" fill="currentColor"/>'),
  pause: icon('<path d="M7 4.5v11M13 4.5v11" stroke-width="3"/>'),
  step: icon('<path d="M5 4.7v10.6l7.2-5.3z" fill="currentColor"/><path d="M15 4.5v11" stroke-width="2.2"/>'),
  reset: icon('<path d="M4 4.5v4h4"/><path d="M4.4 8.3a6.2 6.2 0 1 1-.6 3.2"/>'),
  fit: icon('<path d="M3.5 7.5v-4h4M12.5 3.5h4v4M16.5 12.5v4h-4M7.5 16.5h-4v-4"/>'),
  plots: icon('<path d="M3 16.5h14M3.5 12l3.5-5 3.5 3.5L14 5l3 3"/>'),
};
