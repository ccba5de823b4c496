// SPDX-License-Identifier: GPL-2.0-only
/*
 * awake.c - keep virtio devices awake while the VM suspends
 *
 * The VM's root file system is virtio-9p, whose driver does not survive the
 * suspend of its device. While this module is loaded, the kernel suspends
 * neither the virtio devices nor their PCI functions, so that the steps of
 * suspend that follow the devices can be tested: CPUs and the core.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pci_ids.h>

static int keep(struct device *dev, void *on)
{
	dev_pm_syscore_device(dev, on);
	return 0;
}

static void set(bool on)
{
	struct pci_dev *pdev = NULL;

	while ((pdev = pci_get_device(PCI_VENDOR_ID_REDHAT_QUMRANET, PCI_ANY_ID, pdev))) {
		keep(&pdev->dev, on ? pdev : NULL);
		device_for_each_child(&pdev->dev, on ? pdev : NULL, keep);
	}
}

static int __init awake_init(void)
{
	set(true);
	return 0;
}

static void __exit awake_exit(void)
{
	set(false);
}

module_init(awake_init);
module_exit(awake_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("keeps virtio devices awake during suspend");
